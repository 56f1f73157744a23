package audit

import (
	"runtime"
	"sync"
)

// turnBytes is how much is written in one turn, so that no line waits for long,
// and that a file of the least length holds it.
const turnBytes = minMaxBytes / 2

// turn is lines that wait to be written together: whoever has the log next writes
// those of all who wait, since taking the log costs more than a line.
type turn struct {
	mu    sync.Mutex
	lines []*waitingLine
}

// waitingLine is a line that its writer waits for.
type waitingLine struct {
	text []byte
	done bool // with that error
	err  error
}

// join has a line wait.
func (t *turn) join(text []byte) *waitingLine {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := &waitingLine{text: text}
	t.lines = append(t.lines, line)
	return line
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

// inTurn writes a line, and what waits with it, and returns when it is written. Its
// error is that of the turn in which it was.
func (l *Log) inTurn(text []byte) error {
	mine := l.waiting.join(text)
	runtime.Gosched() // to those who are about to join, if any
	for {
		l.mu.Lock()
		if mine.done {
			l.mu.Unlock()
			return mine.err
		}
		l.writeTurn()
		l.mu.Unlock()
	}
}

// writeTurn writes the lines of one turn; the caller holds the lock.
func (l *Log) writeTurn() {
	lines := l.waiting.take()
	texts := make([][]byte, len(lines))
	for i, line := range lines {
		texts[i] = line.text
	}
	err := l.alone(func() error { return l.append(texts...) })
	for _, line := range lines {
		line.done, line.err = true, err
	}
}
