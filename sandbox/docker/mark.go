package docker

import (
	"bytes"
	"io"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

// untilMark takes a stream with a mark in it and passes on what is before and
// what is behind. It holds back nothing but what may be the beginning of the
// mark.
type untilMark struct {
	next   io.Writer // one that does not fail
	mark   []byte
	behind rest

	held   []byte
	marked bool
}

// rest takes what is behind a mark.
type rest interface {
	write(p []byte)
	// done tells that all is there.
	done() bool
}

func (u *untilMark) write(p []byte) {
	if u.marked {
		u.behind.write(p)
		return
	}
	if len(u.held) > 0 {
		p = append(u.held, p...)
		u.held = nil
	}
	if at := bytes.Index(p, u.mark); at >= 0 {
		u.marked = true
		u.pass(p[:at])
		u.behind.write(p[at+len(u.mark):])
		return
	}
	keep := min(len(u.mark)-1, len(p))
	for keep > 0 && !bytes.HasPrefix(u.mark, p[len(p)-keep:]) {
		keep--
	}
	u.held = append(u.held, p[len(p)-keep:]...)
	u.pass(p[:len(p)-keep])
}

func (u *untilMark) pass(p []byte) {
	if len(p) > 0 {
		u.next.Write(p)
	}
}

// flush passes on what was held back once nothing can follow.
func (u *untilMark) flush() {
	if !u.marked {
		u.pass(u.held)
		u.held = nil
	}
}

func (u *untilMark) done() bool { return u.marked && u.behind.done() }

// suffix is a rest of a certain length.
type suffix struct {
	length int
	data   []byte
}

func (s *suffix) write(p []byte) { s.data = append(s.data, p[:min(len(p), s.length-len(s.data))]...) }

func (s *suffix) done() bool { return len(s.data) == s.length }

// report gives the report that a suffix is, or nil.
func (s *suffix) report() *protocol.Report {
	if !s.done() {
		return nil
	}
	report, err := protocol.DecodeReport(s.data)
	if err != nil {
		return nil
	}
	return &report
}
