package developing

import (
	"io"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/examples"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
)

// events writes a JSON object a line, for programs.
type events struct{ out io.Writer }

func (e *events) round(r Round) error {
	return terminal.PrintJSON(e.out, struct {
		Event string `json:"event"`
		Round
	}{"round", r})
}

func (e *events) running(r Running) error {
	return terminal.PrintJSON(e.out, struct {
		Event string `json:"event"`
		Running
	}{"running", r})
}

func (e *events) example(x Example) error {
	return terminal.PrintJSON(e.out, struct {
		Event string `json:"event"`
		Example
	}{"example", x})
}

// faults are told at the end.
func (*events) faults([]examples.Fault) error { return nil }

func (e *events) end(x End) error {
	return terminal.PrintJSON(e.out, struct {
		Event string `json:"event"`
		End
	}{"end", x})
}
