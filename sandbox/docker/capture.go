package docker

import (
	"log/slog"
	"os"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/output"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

// capture keeps a program's outputs.
type capture struct {
	stdout, stderr *output.Stream
	lines          *output.Lines // nil where nobody wants to know
}

// newCapture gives a capture that spills to private, unless that is nil. It
// calls exceeded when a stream is longer than it may be.
func newCapture(spec sandbox.Spec, private *scratch.Dir, exceeded func()) *capture {
	c := new(capture)
	if spec.Progress != nil {
		c.lines = output.ReportLines(spec.Progress)
	}
	stream := func(name string) *output.Stream {
		config := output.Config{
			Keep:     spec.Limits.OutputBytes,
			Limit:    spec.Limits.SpillBytes,
			Exceeded: exceeded,
			Lines:    c.lines,
		}
		if private != nil {
			config.Spill = func() (*os.File, string, error) { return private.Create(name) }
		}
		return output.NewStream(config)
	}
	c.stdout, c.stderr = stream("stdout"), stream("stderr")
	return c
}

func (c *capture) exceeded() bool { return c.stdout.Exceeded() || c.stderr.Exceeded() }

// close ends the capture once nothing writes any more.
func (c *capture) close(log *slog.Logger) {
	if c.lines != nil {
		c.lines.Stop()
	}
	for _, stream := range []*output.Stream{c.stdout, c.stderr} {
		if err := stream.Close(); err != nil {
			log.Warn("the whole output cannot be saved", "error", err)
		}
	}
}
