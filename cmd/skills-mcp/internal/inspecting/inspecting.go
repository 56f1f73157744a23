// Package inspecting says what there is to know of one skill before it is used:
// what a model is told of it and when, what it may do, and what it asks for.
package inspecting

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/listing"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/preparing"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/resources"
)

// Report is what there is to know.
type Report struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Path is the entry document's on this machine.
	Path string `json:"path"`
	// Digest is that of the version to which grants and answers are bound.
	Digest string `json:"digest"`
	// Levels are the three in which a model comes to know it.
	Levels []Level `json:"levels"`
	// AllowedTools are what it may use, absent where it may use what the
	// configuration allows.
	AllowedTools *[]string `json:"allowedTools,omitempty"`
	// Tools are those of its tools.json.
	Tools []string `json:"tools"`
	// Granted is what the user granted it.
	Granted []string `json:"granted"`
	// Packages, Hosts and Variables are what its files ask for; of the last two,
	// what it is not granted.
	Packages      []string          `json:"packages"`
	Hosts         []string          `json:"hosts"`
	Variables     []string          `json:"variables"`
	Compatibility string            `json:"compatibility,omitempty"`
	Problems      []catalog.Problem `json:"problems"`

	plan preparing.Plan
}

const toolsFile = "tools.json"

// New looks at a skill. The plan is its own.
func New(ctx context.Context, skill *catalog.Skill, plan preparing.Plan, granted []string, problems []catalog.Problem) (*Report, error) {
	r := &Report{
		Name: skill.Name, Description: skill.Description, Path: filepath.Join(skill.Dir, skill.Entry), Digest: plan.Skill.Digest,
		Tools: []string{}, Granted: orNone(granted), Packages: []string{}, Hosts: orNone(plan.Hosts), Variables: orNone(plan.Variables),
		Compatibility: skill.Compatibility, Problems: append([]catalog.Problem{}, problems...), plan: plan,
	}
	if skill.AllowedTools != nil {
		r.AllowedTools = &skill.AllowedTools
	}
	for _, each := range append(plan.Needs.Python, plan.Needs.Npm...) {
		r.Packages = append(r.Packages, each.Text)
	}
	dir, err := resources.OpenSkill(skill)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if skill.HasTools {
		if file, err := dir.ReadAll(toolsFile, 0); err == nil {
			tools, _ := catalog.ParseTools(toolsFile, file.Data)
			for _, tool := range tools {
				r.Tools = append(r.Tools, tool.Name)
			}
		}
	}
	r.Levels, _, err = Levels(ctx, skill)
	return r, err
}

func orNone(list []string) []string { return append([]string{}, list...) }

// Write writes it for people.
func (r *Report) Write(out io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n  %s\n  %s\n  %s\n", r.Name, terminal.Shorten(r.Description, 200), terminal.Printable(r.Path), r.Digest)
	text.WriteString("\nWhat a model is given:\n")
	for i, when := range []string{"always", "by activate", "when it reads them"} {
		r.Levels[i].write(&text, when)
	}
	text.WriteString("\nWhat it may do:\n")
	switch {
	case r.AllowedTools == nil:
		text.WriteString("  all that the configuration allows, since it says nothing (allowed-tools)\n")
	case len(*r.AllowedTools) == 0:
		text.WriteString("  nothing: its allowed-tools name no tool\n")
	default:
		fmt.Fprintf(&text, "  %s\n", terminal.Printable(strings.Join(*r.AllowedTools, " ")))
	}
	if len(r.Tools) > 0 {
		fmt.Fprintf(&text, "  tools of its own: %s\n", strings.Join(r.Tools, ", "))
	}
	for _, line := range r.Granted {
		fmt.Fprintf(&text, "  granted: %s\n", terminal.Printable(line))
	}
	text.WriteString("\nWhat its files ask for:\n")
	r.plan.WriteNeeds(&text)
	for _, problem := range r.Problems {
		listing.WriteProblem(&text, problem)
	}
	_, err := io.WriteString(out, text.String())
	return err
}
