package docker

import (
	"bytes"
	"io"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/handover"
)

// untilMark takes a stream with a mark behind it, which suffix bytes follow,
// and passes on what is before. It holds back nothing but what may be the
// beginning of the mark.
type untilMark struct {
	next   io.Writer // one that does not fail
	mark   []byte
	suffix int

	held   []byte
	marked bool
	tail   []byte
}

func (u *untilMark) write(p []byte) {
	if u.marked {
		u.tail = append(u.tail, p[:min(len(p), u.suffix-len(u.tail))]...)
		return
	}
	if len(u.held) > 0 {
		p = append(u.held, p...)
		u.held = nil
	}
	if at := bytes.Index(p, u.mark); at >= 0 {
		u.marked = true
		rest := p[at+len(u.mark):]
		u.tail = append(u.tail, rest[:min(len(rest), u.suffix)]...)
		u.pass(p[:at])
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
