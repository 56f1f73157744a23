package docker

import (
	"bytes"
	"errors"
	"io"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/handover"
)

// untilMark takes a stream with prefix bytes before it and a mark behind it,
// which suffix bytes follow, and passes on what is between. It holds back
// nothing but what may be the beginning of the mark.
type untilMark struct {
	next           io.Writer
	mark           []byte
	prefix, suffix int

	head   int // bytes of it that are there
	held   []byte
	marked bool
	tail   []byte
}

// Write takes all of p.
func (u *untilMark) Write(p []byte) (int, error) {
	n := len(p)
	skipped := min(u.prefix-u.head, len(p))
	u.head += skipped
	p = p[skipped:]
	switch {
	case len(p) == 0:
	case u.marked:
		u.tail = append(u.tail, p[:min(len(p), u.suffix-len(u.tail))]...)
	default:
		if err := u.scan(p); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func (u *untilMark) scan(p []byte) error {
	if len(u.held) > 0 {
		p = append(u.held, p...)
		u.held = nil
	}
	if at := bytes.Index(p, u.mark); at >= 0 {
		u.marked = true
		rest := p[at+len(u.mark):]
		u.tail = append(u.tail, rest[:min(len(rest), u.suffix)]...)
		return u.pass(p[:at])
	}
	keep := min(len(u.mark)-1, len(p))
	for keep > 0 && !bytes.HasPrefix(u.mark, p[len(p)-keep:]) {
		keep--
	}
	u.held = append(u.held, p[len(p)-keep:]...)
	return u.pass(p[:len(p)-keep])
}

func (u *untilMark) pass(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	_, err := u.next.Write(p)
	return err
}

// flush passes on what was held back once nothing can follow.
func (u *untilMark) flush() {
	if !u.marked {
		u.pass(u.held) // captures do not fail
		u.held = nil
	}
}

func (u *untilMark) begun() bool { return u.head == u.prefix }

func (u *untilMark) done() bool { return u.marked && len(u.tail) == u.suffix }

// report gives what follows the mark, or nil.
func (u *untilMark) report() *handover.Report {
	if !u.done() {
		return nil
	}
	report, err := handover.DecodeReport(u.tail)
	if err != nil {
		return nil
	}
	return &report
}

// errDone stops the copying of streams that are complete.
var errDone = errors.New("both streams are complete")

// bothDone makes the writers of two streams fail once both are complete. They
// are for one goroutine.
type bothDone struct{ a, b *untilMark }

func (d *bothDone) writer(u *untilMark) io.Writer { return doneWriter{d, u} }

type doneWriter struct {
	both *bothDone
	to   *untilMark
}

func (w doneWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	if err == nil && w.both.a.done() && w.both.b.done() {
		err = errDone
	}
	return n, err
}
