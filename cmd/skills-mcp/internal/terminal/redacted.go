package terminal

import (
	"encoding/json"
	"io"

	"github.com/skills-mcp/skills-mcp/internal/redact"
)

// redacted is an output without the values of secrets. What is shown as one is
// written in one call.
type redacted struct {
	io.Writer
	set *redact.Set
}

// Redacted returns an output to which nothing is passed on that a set holds. It
// is a terminal where out is one.
func Redacted(out io.Writer, set *redact.Set) io.Writer { return redacted{out, set} }

// Unredacted returns the output that [Redacted] was given: for a server, which
// leaves out itself what clients must not get.
func Unredacted(out io.Writer) io.Writer {
	if w, ok := out.(redacted); ok {
		return w.Writer
	}
	return out
}

// Write implements [io.Writer].
func (w redacted) Write(p []byte) (int, error) {
	clean := w.set.Bytes
	if json.Valid(p) {
		clean = w.set.JSON
	}
	if _, err := w.Writer.Write(clean(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
