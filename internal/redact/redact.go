// Package redact takes the values of secrets out of what leaves the process:
// what programs write, answers, logs, the audit log.
//
// A value is found as it is, at any depth of JSON and other backslash escapes,
// percent escapes and HTML entities in each other, in hexadecimal, and in base64 of
// any text that holds it, wrapped to lines or not. In hexadecimal and base64,
// which stay what can be decoded, asterisks take the place of its bytes;
// anywhere else "[secret NAME]" takes its place, which JSON, HTML, terminals and
// shells take for plain text. The rest of a text is not touched.
//
// The time that it takes grows with the text alone, whatever the text and however
// many values there are; without values, nothing is looked at.
//
// It is against accidents: a program that has a value can write it in a
// way that is not known here, one character a line or reversed. What a
// program is not to have it must not be given.
package redact

import (
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// MinBytes is the length of the shortest value that is taken out.
const MinBytes = 8

// maxValues is how many values of one name a set holds, the latest: keys that are
// renewed every few minutes are many in the life of a process.
const maxValues = 64

// Set is the values that are to leave this process nowhere, with their names.
// The zero value is empty and ready for use, and so is nil, but to add to. It is
// safe for use by several goroutines.
type Set struct {
	mu       sync.Mutex
	secrets  []secret
	compiled atomic.Pointer[matcher] // nil where there are none
}

// secret is a value, and what is written in its place.
type secret struct {
	name, value string
	marker      string
}

// Add adds a value under the name that is shown in its place; of several names of
// one value it is the first. Of one name, the 64 values that were added last are
// kept. Values shorter than [MinBytes] bytes are not added, since they are in
// texts that have nothing to do with them.
func (s *Set) Add(name, value string) {
	if len(value) < MinBytes {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.IndexFunc(s.secrets, func(known secret) bool { return known.value == value }); at >= 0 {
		known := s.secrets[at]
		s.secrets = append(slices.Delete(s.secrets, at, at+1), known)
		return
	}
	s.secrets = append(s.secrets, secret{name, value, "[secret " + strings.Map(nameRune, name) + "]"})
	s.dropOldest(name)
	s.compiled.Store(compile(slices.Clone(s.secrets)))
}

// dropOldest drops a value of a name that has too many; the lock is held.
func (s *Set) dropOldest(name string) {
	oldest, count := 0, 0
	for i, known := range slices.Backward(s.secrets) {
		if known.name == name {
			oldest = i
			count++
		}
	}
	if count > maxValues {
		s.secrets = slices.Delete(s.secrets, oldest, oldest+1)
	}
}

// matcher returns what finds the values, or nil where there are none.
func (s *Set) matcher() *matcher {
	if s == nil {
		return nil
	}
	return s.compiled.Load()
}

// nameRune keeps a marker what every format takes for plain text.
func nameRune(c rune) rune {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.':
		return c
	}
	return '_'
}

// String returns a text without the values.
func (s *Set) String(text string) string {
	m := s.matcher()
	if m == nil {
		return text
	}
	if clean, changed := m.redact([]byte(text)); changed {
		return string(clean)
	}
	return text
}

// Bytes returns a text without the values: text itself where it has none.
func (s *Set) Bytes(text []byte) []byte {
	m := s.matcher()
	if m == nil {
		return text
	}
	if clean, changed := m.redact(text); changed {
		return clean
	}
	return text
}

// Part returns text[from:to] without the values, and without what it has of values
// that lie across its ends: what is shown of a text is cut out of it by Part. It
// looks no further than [Set.Margin] beyond the ends.
func (s *Set) Part(text []byte, from, to int) []byte {
	m := s.matcher()
	if m == nil {
		return text[from:to]
	}
	begin, end := max(0, from-m.margin), min(len(text), to+m.margin)
	return m.part(text[begin:end], from-begin, to-begin)
}

// Margin is how many bytes before and after a part of a text can belong to a value
// that lies across its ends: 0 without values. One that is escaped again and again
// can be longer.
func (s *Set) Margin() int {
	if m := s.matcher(); m != nil {
		return m.margin
	}
	return 0
}

// Writer returns a writer that passes on to w what is written to it, without the
// values, also where they are split over several writes. It keeps back no more
// than what can be the beginning of a value. Its Close passes on the rest, and
// does not close w. It is used by one goroutine at a time.
func (s *Set) Writer(w io.Writer) io.WriteCloser { return &writer{set: s, next: w} }
