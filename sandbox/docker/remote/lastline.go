package remote

import "bytes"

// lineBytes is how much of a line is kept.
const lineBytes = 512

// lastLine is a writer that keeps the last line that is not blank.
type lastLine struct{ line, next []byte }

func (l *lastLine) Write(p []byte) (int, error) {
	for _, b := range p {
		switch {
		case b == '\n':
			l.end()
		case len(l.next) < lineBytes:
			l.next = append(l.next, b)
		}
	}
	return len(p), nil
}

func (l *lastLine) end() {
	if trimmed := bytes.TrimSpace(l.next); len(trimmed) > 0 {
		l.line = trimmed
	}
	l.next = nil
}

// String returns the line, once everything is written.
func (l *lastLine) String() string {
	l.end()
	return string(l.line)
}
