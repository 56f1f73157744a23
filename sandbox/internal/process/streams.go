package process

import (
	"os"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/output"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

// Streams are a program's input and outputs.
type Streams struct {
	Stdin          []byte
	Stdout, Stderr *output.Stream
	lines          *output.Lines // nil where they are not asked for
}

func newStreams(spec sandbox.Spec, private *scratch.Dir, exceeded func()) *Streams {
	s := &Streams{Stdin: spec.Stdin}
	if spec.Progress != nil {
		s.lines = output.ReportLines(spec.Progress)
	}
	capture := func(name string) *output.Stream {
		return output.NewStream(output.Config{
			Keep:     spec.Limits.OutputBytes,
			Limit:    spec.Limits.SpillBytes,
			Spill:    func() (*os.File, string, error) { return private.Create(name) },
			Exceeded: exceeded,
			Lines:    s.lines,
		})
	}
	s.Stdout, s.Stderr = capture("stdout"), capture("stderr")
	return s
}

func (s *Streams) exceeded() bool { return s.Stdout.Exceeded() || s.Stderr.Exceeded() }

// closeStreams ends the capture once nothing writes any more.
func (r *Runner) closeStreams(s *Streams) {
	if s.lines != nil {
		s.lines.Stop()
	}
	for _, stream := range []*output.Stream{s.Stdout, s.Stderr} {
		if err := stream.Close(); err != nil {
			r.log.Warn("the whole output cannot be saved", "error", err)
		}
	}
}
