package process

import (
	"io"
	"os"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/output"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

// Streams are a program's input, outputs and connections.
type Streams struct {
	Stdin []byte
	// Stdout and Stderr do not fail. Each is for one goroutine at a time, and
	// for none after [Tree.Wait] has returned.
	Stdout, Stderr io.Writer

	stdout, stderr *capture
	lines          *output.Lines // nil where they are not asked for
	egress         sandbox.Egress
	serving        *serving // nil where no connections are taken
}

func newStreams(spec sandbox.Spec, private *scratch.Dir, exceeded func()) *Streams {
	s := &Streams{Stdin: spec.Stdin, egress: spec.Egress}
	if spec.Progress != nil {
		s.lines = output.ReportLines(spec.Progress)
	}
	kept := func(name string) *capture {
		return newCapture(spec, output.NewStream(output.Config{
			Keep:     spec.Limits.OutputBytes,
			Limit:    spec.Limits.SpillBytes,
			Spill:    func() (*os.File, string, error) { return private.Create(name) },
			Exceeded: exceeded,
			Lines:    s.lines,
		}), exceeded)
	}
	s.stdout, s.stderr = kept("stdout"), kept("stderr")
	s.Stdout, s.Stderr = s.stdout, s.stderr
	return s
}

func (s *Streams) exceeded() bool { return s.stdout.isExceeded() || s.stderr.isExceeded() }

// closeStreams ends the capture once nothing writes any more.
func (r *Runner) closeStreams(s *Streams) {
	if s.lines != nil {
		s.lines.Stop()
	}
	for _, stream := range []*capture{s.stdout, s.stderr} {
		if err := stream.close(); err != nil {
			r.log.Warn("the whole output cannot be saved", "error", err)
		}
	}
}
