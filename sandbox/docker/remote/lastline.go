package remote

import "bytes"

// lineBytes is how much of a line is kept.
const lineBytes = 512

// lastLine is a writer that keeps the last line that is not blank.
type lastLine []byte

func (l *lastLine) Write(p []byte) (int, error) {
	*l = append(*l, p...)
	*l = (*l)[max(0, len(*l)-lineBytes):]
	return len(p), nil
}

func (l lastLine) String() string {
	text := bytes.TrimSpace(l)
	return string(text[bytes.LastIndexByte(text, '\n')+1:])
}
