package audit

import (
	"runtime"
	"sync"
)

// turnBytes is how much is written in one turn, so that no line waits for long,
// and that a file of the least length holds it.
const turnBytes = minMaxBytes / 2

// turn is lines that wait to be written together, since taking the log costs more
// than a line: the writer of the one that has waited longest writes all of them. The
// others wait for it, each by itself: were it for a lock that goes from one to the
// next, they would go on one after the other.
type turn struct {
	mu      sync.Mutex
	lines   []*waitingLine
	writing bool // somebody writes, or was told to
}

// waitingLine is a line that its writer waits for.
type waitingLine struct {
	text []byte
	// told is sent true when the line was written, with that error, and false when
	// its writer is to write the lines that wait.
	told chan bool
	err  error
}

// join has a line wait. leads reports whether its writer is to write what waits.
func (t *turn) join(text []byte) (line *waitingLine, leads bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line, leads = &waitingLine{text: text, told: make(chan bool, 1)}, !t.writing
	t.lines, t.writing = append(t.lines, line), true
	return line, leads
}

// take returns the lines that have waited longest, as many as are written at once.
func (t *turn) take() []*waitingLine {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, size := 0, 0
	for n < len(t.lines) && (n == 0 || size+len(t.lines[n].text) <= turnBytes) {
		size += len(t.lines[n].text)
		n++
	}
	taken := t.lines[:n:n]
	if t.lines = t.lines[n:]; len(t.lines) == 0 {
		t.lines = nil
	}
	return taken
}

// pass has the next one write, if any waits.
func (t *turn) pass() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.writing = len(t.lines) > 0; t.writing {
		t.lines[0].told <- false
	}
}

// inTurn writes a line, and what waits with it, and returns when it is written. Its
// error is that of the turn in which it was.
func (l *Log) inTurn(text []byte) error {
	mine, leads := l.waiting.join(text)
	if !leads && <-mine.told {
		return mine.err
	}
	defer l.waiting.pass()
	runtime.Gosched() // to those who are about to join, if any
	l.writeTurn()
	return mine.err
}

// writeTurn writes the lines of one turn.
func (l *Log) writeTurn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.waiting.take()
	texts := make([][]byte, len(lines))
	for i, line := range lines {
		texts[i] = line.text
	}
	err := l.alone(func() error { return l.append(texts...) })
	for _, line := range lines {
		line.err = err
		line.told <- true
	}
}
