// Package output captures what programs write, within bounds, while they
// write it. Every backend feeds it from its own pipes.
package output

import (
	"os"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Config is how a [Stream] keeps what is written to it.
type Config struct {
	// Keep is how many bytes stay in memory: the whole stream up to here,
	// else half from its head and half from its tail.
	Keep int64
	// Limit is after how many bytes Exceeded is called. What is written
	// beyond it is counted and may be in the tail, but is not spilled.
	Limit int64
	// Spill makes the file for the whole stream, once it is longer than
	// Keep, and returns its path relative to the workspace.
	Spill func() (*os.File, string, error)
	// Exceeded is called once, from Write.
	Exceeded func()
	// Lines, if set, is told of every line that is not blank.
	Lines *Lines
}

// Stream is an io.Writer for one of a program's output streams. It never
// fails and waits for nothing but the disk, so that the program is not held
// up. It is for one goroutine at a time. Close must be called at its end.
type Stream struct {
	config Config
	total  int64
	head   []byte // the whole stream until it is cut
	tail   ring
	cut    bool // longer than Keep
	spill  spill
	lines  splitter
}

// NewStream returns an empty stream.
func NewStream(config Config) *Stream { return &Stream{config: config} }

// Write takes all of p.
func (s *Stream) Write(p []byte) (int, error) {
	before := s.total
	s.total += int64(len(p))
	if s.total > s.config.Keep {
		s.writeCut(p)
	} else {
		s.head = append(s.head, p...)
	}
	if s.config.Lines != nil {
		if line := s.lines.write(p); line != "" {
			s.config.Lines.set(line)
		}
	}
	if before <= s.config.Limit && s.total > s.config.Limit && s.config.Exceeded != nil {
		s.config.Exceeded()
	}
	return len(p), nil
}

// writeCut takes p once the stream is longer than what is kept.
func (s *Stream) writeCut(p []byte) {
	half := int(s.config.Keep / 2)
	if !s.cut {
		s.cut = true
		s.spill.open(s.config)
		s.spill.write(s.head)
		s.tail.size = int(s.config.Keep) - half
		if len(s.head) > half {
			s.tail.write(s.head[half:])
			s.head = append([]byte(nil), s.head[:half]...)
		}
	}
	s.spill.write(p)
	missing := min(half-len(s.head), len(p))
	s.head = append(s.head, p[:missing]...)
	s.tail.write(p[missing:])
}

// Close ends the spill file. It returns the first error that the file had: then
// there is no whole copy of the stream, and Output names none.
func (s *Stream) Close() error { return s.spill.close() }

// Output returns what was captured. It is called after Close.
func (s *Stream) Output() sandbox.Output {
	return sandbox.Output{
		Data:  append(s.head, s.tail.bytes()...),
		Head:  len(s.head),
		Total: s.total,
		Spill: s.spill.path,
	}
}

// Exceeded reports whether the stream went past its limit.
func (s *Stream) Exceeded() bool { return s.total > s.config.Limit }
