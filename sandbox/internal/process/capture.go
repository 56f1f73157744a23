package process

import (
	"errors"
	"io"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/output"
)

// capture captures one of a program's outputs, without what nobody may see.
type capture struct {
	kept     *output.Stream
	redactor io.WriteCloser // nil where nothing is to be removed
	err      error          // of the redactor, behind which nothing is kept
	// What the program wrote is bounded too, not only what is left of it.
	written, limit int64
	exceeded       func()
}

func newCapture(spec sandbox.Spec, kept *output.Stream, exceeded func()) *capture {
	c := &capture{kept: kept, limit: spec.Limits.SpillBytes, exceeded: exceeded}
	if spec.Redact != nil {
		c.redactor = spec.Redact(kept)
	}
	return c
}

// Write takes all of p.
func (c *capture) Write(p []byte) (int, error) {
	if c.redactor == nil {
		return c.kept.Write(p)
	}
	before := c.written
	c.written += int64(len(p))
	if c.err == nil {
		_, c.err = c.redactor.Write(p)
	}
	if before <= c.limit && c.written > c.limit {
		c.exceeded()
	}
	return len(p), nil
}

func (c *capture) isExceeded() bool { return c.written > c.limit || c.kept.Exceeded() }

// close passes on what the redactor holds back, and ends the capture.
func (c *capture) close() error {
	if c.redactor != nil {
		c.err = errors.Join(c.err, c.redactor.Close())
	}
	return errors.Join(c.err, c.kept.Close())
}
