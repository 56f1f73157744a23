package host

import (
	"os"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/output"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

// streams are a program's input and outputs.
type streams struct {
	stdin          []byte
	stdout, stderr *output.Stream
	lines          *output.Lines // nil where nobody wants to know
}

func newStreams(spec sandbox.Spec, private *scratch.Dir, exceeded func()) *streams {
	s := &streams{stdin: spec.Stdin}
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
	s.stdout, s.stderr = capture("stdout"), capture("stderr")
	return s
}

func (s *streams) exceeded() bool { return s.stdout.Exceeded() || s.stderr.Exceeded() }

// closeStreams ends the capture once nothing writes any more.
func (b *Backend) closeStreams(s *streams) {
	if s.lines != nil {
		s.lines.Stop()
	}
	for _, stream := range []*output.Stream{s.stdout, s.stderr} {
		if err := stream.Close(); err != nil {
			b.log.Warn("the whole output cannot be saved", "error", err)
		}
	}
}
