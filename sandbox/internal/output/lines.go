package output

import (
	"bytes"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// lineInterval is the shortest time between two reported lines.
	lineInterval = 250 * time.Millisecond
	// lineBytes is where a line is cut for the report.
	lineBytes = 1 << 10
)

// Lines reports the newest whole line of the streams that are written, from
// one goroutine and not too often. [Lines.Stop] must be called at the end.
type Lines struct {
	newest atomic.Value  // string
	news   chan struct{} // holds one token while newest was not reported
	quit   chan struct{}
	work   sync.WaitGroup
}

// ReportLines starts to report to call.
func ReportLines(call func(line string)) *Lines {
	l := &Lines{news: make(chan struct{}, 1), quit: make(chan struct{})}
	l.work.Go(func() { l.report(call) })
	return l
}

// Stop ends the reports. It returns after the last call has returned.
func (l *Lines) Stop() {
	close(l.quit)
	l.work.Wait()
}

func (l *Lines) set(line string) {
	l.newest.Store(line)
	select {
	case l.news <- struct{}{}:
	default:
	}
}

func (l *Lines) report(call func(string)) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select { // both in turn: first the pause since the last call, then news
		case <-pause.C:
		case <-l.quit:
			return
		}
		select {
		case <-l.news:
		case <-l.quit:
			return
		}
		call(l.newest.Load().(string))
		pause.Reset(lineInterval)
	}
}

// splitter finds the newest whole line of one stream. A carriage return ends
// a line as a newline does, for programs that draw progress bars; blank lines
// do not count.
type splitter struct{ partial []byte }

// write takes the next part of the stream. It returns the last line that ended
// in it, or an empty string.
func (s *splitter) write(p []byte) (line string) {
	end := bytes.LastIndexAny(p, "\r\n")
	if end < 0 {
		s.keep(p)
		return ""
	}
	rest := p[end+1:]
	p = bytes.TrimRight(p[:end], " \t\r\n")
	if start := bytes.LastIndexAny(p, "\r\n") + 1; start > 0 {
		line = clean(p[start:])
	} else {
		s.keep(p)
		line = clean(s.partial)
	}
	s.partial = s.partial[:0]
	s.keep(rest)
	return line
}

func (s *splitter) keep(p []byte) {
	s.partial = append(s.partial, p[:min(lineBytes-len(s.partial), len(p))]...)
}

func clean(line []byte) string {
	line = line[:min(len(line), lineBytes)]
	return strings.TrimSpace(strings.ToValidUTF8(string(line), "\ufffd"))
}
