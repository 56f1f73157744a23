package docker

import (
	"bytes"
	"io"
)

// stream takes one of a container's streams apart: what the program wrote, and
// what the entry program adds, each ended by a mark. It holds back nothing but
// what may be the beginning of the mark.
type stream struct {
	mark []byte
	// parts are for what is still to come. They do not fail.
	parts []io.Writer
	held  []byte
}

func (s *stream) write(p []byte) {
	if len(s.held) > 0 {
		p = append(s.held, p...)
		s.held = nil
	}
	for !s.done() {
		at := bytes.Index(p, s.mark)
		if at < 0 {
			break
		}
		s.pass(p[:at])
		s.parts, p = s.parts[1:], p[at+len(s.mark):]
	}
	keep := min(len(s.mark)-1, len(p))
	for keep > 0 && !bytes.HasPrefix(s.mark, p[len(p)-keep:]) {
		keep--
	}
	s.held = append(s.held, p[len(p)-keep:]...)
	s.pass(p[:len(p)-keep])
}

// pass passes on what is of the next part. What is behind the last one does not
// matter.
func (s *stream) pass(p []byte) {
	if len(p) > 0 && !s.done() {
		s.parts[0].Write(p)
	}
}

// flush passes on what was held back once nothing can follow.
func (s *stream) flush() {
	s.pass(s.held)
	s.held = nil
}

func (s *stream) done() bool { return len(s.parts) == 0 }
