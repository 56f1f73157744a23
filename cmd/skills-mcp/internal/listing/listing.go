// Package listing says which skills there are, and what is wrong with them.
package listing

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources"
)

// Listing is what there is to list.
type Listing struct {
	skills, hidden []*catalog.Skill
	problems       []catalog.Problem
	shown          []string
	disables       func(name string) bool
	rootOf         func(*catalog.Skill) string
}

// New returns what a catalog holds. Shown is what programs see besides the
// system's files; disables reports whether the configuration disables a skill.
func New(ctx context.Context, from *catalog.Catalog, shown []string, disables func(name string) bool) Listing {
	snapshot := from.Snapshot()
	rootOf := func(skill *catalog.Skill) string { return from.Root(skill).Path }
	return Listing{snapshot.Skills(), snapshot.Hidden(), allProblems(ctx, snapshot), shown, disables, rootOf}
}

// why says why a skill is hidden.
func (l Listing) why(skill *catalog.Skill) string {
	if l.disables(skill.Name) {
		return "disabled"
	}
	return "not visible"
}

// Faulty reports whether an error keeps something out.
func (l Listing) Faulty() bool {
	return slices.ContainsFunc(l.problems, func(p catalog.Problem) bool { return p.Severity == catalog.Error })
}

// Text writes it for people.
func (l Listing) Text(out io.Writer) error {
	var text strings.Builder
	for _, skill := range l.skills {
		writeSkill(&text, skill, "")
	}
	for _, skill := range l.hidden {
		writeSkill(&text, skill, " ("+l.why(skill)+")")
	}
	text.WriteString(terminal.Counted(len(l.skills), "skill") + ", " + terminal.Counted(len(l.problems), "problem"))
	if len(l.hidden) > 0 {
		fmt.Fprintf(&text, ", %d hidden", len(l.hidden))
	}
	text.WriteString("\n")
	for _, problem := range l.problems {
		WriteProblem(&text, problem)
	}
	if len(l.shown) > 0 {
		text.WriteString("\nprograms of skills see, besides the system's files:\n")
		for _, name := range l.shown {
			fmt.Fprintf(&text, "    %s\n", terminal.Printable(name))
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// WriteProblem writes one problem for people.
func WriteProblem(text *strings.Builder, problem catalog.Problem) {
	WriteStyled(text, problem, func(_ terminal.Style, text string) string { return text })
}

// WriteStyled writes one problem for people with what makes its parts stand out.
func WriteStyled(text *strings.Builder, problem catalog.Problem, styled func(terminal.Style, string) string) {
	severity := terminal.Warning
	if problem.Severity == catalog.Error {
		severity = terminal.Fault
	}
	fmt.Fprintf(text, "\n%s: %s: %s [%s]\n", styled(terminal.Strong, terminal.Printable(position(problem))), styled(severity, problem.Severity.String()),
		terminal.Printable(problem.Message), problem.Rule)
	if problem.Hint != "" {
		fmt.Fprintf(text, "    %s\n", problem.Hint)
	}
}

// Of returns the problems of a skill.
func (l Listing) Of(skill string) (problems []catalog.Problem) {
	for _, problem := range l.problems {
		if problem.Skill == skill {
			problems = append(problems, problem)
		}
	}
	return problems
}

func writeSkill(text *strings.Builder, skill *catalog.Skill, mark string) {
	fmt.Fprintf(text, "%s%s\n    %s\n    %s\n", skill.Name, mark, terminal.Shorten(skill.Description, 100), terminal.Printable(filepath.Join(skill.Shown(), skill.Entry)))
}

type listedTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type listedSkill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Path is the entry document's; of a skill in an archive, the archive's path
	// followed by the path in it.
	Path string `json:"path"`
	// Root is the directory or archive in which it was found.
	Root string `json:"root"`
	// URI is what clients read the entry document by.
	URI string `json:"uri"`
	// HasTools says that there is a tools.json.
	HasTools bool `json:"hasTools"`
	// Tools are those of its tools.json that can be used.
	Tools []listedTool `json:"tools,omitempty"`
	// AllowedTools is absent where nothing is said, and empty where nothing is
	// allowed.
	AllowedTools *[]string `json:"allowedTools,omitempty"`
	// Permissions are what AllowedTools grant, by what is done.
	Permissions *policy.Permissions `json:"permissions,omitempty"`
	Frontmatter json.RawMessage     `json:"frontmatter"`
	// Hidden says why no client sees it.
	Hidden string `json:"hidden,omitempty"`
}

// JSON writes it as one JSON object.
func (l Listing) JSON(out io.Writer) error {
	listing := struct {
		Skills   []listedSkill     `json:"skills"`
		Hidden   []listedSkill     `json:"hidden,omitempty"`
		Problems []catalog.Problem `json:"problems"`
		// Shown is what programs see of this machine besides the system's files.
		Shown []string `json:"shown,omitempty"`
	}{Skills: []listedSkill{}, Problems: append([]catalog.Problem{}, l.problems...), Shown: l.shown}
	for _, skill := range l.skills {
		listing.Skills = append(listing.Skills, l.listed(skill, ""))
	}
	for _, skill := range l.hidden {
		listing.Hidden = append(listing.Hidden, l.listed(skill, l.why(skill)))
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(listing)
}

func (l Listing) listed(skill *catalog.Skill, hidden string) listedSkill {
	entry := listedSkill{
		Name: skill.Name, Description: skill.Description, Path: filepath.Join(skill.Shown(), skill.Entry), Root: l.rootOf(skill),
		URI: resources.URI(skill, skill.Entry), HasTools: skill.HasTools, Frontmatter: skill.Frontmatter, Hidden: hidden,
	}
	if skill.AllowedTools != nil {
		grants, _ := policy.Parse(skill.AllowedTools)
		entry.AllowedTools, entry.Permissions = &skill.AllowedTools, grants.Permissions()
	}
	for _, tool := range toolsOf(skill) {
		entry.Tools = append(entry.Tools, listedTool{tool.Name, tool.Description})
	}
	return entry
}

// position is where a problem is, as editors and terminals link it.
func position(problem catalog.Problem) string {
	switch {
	case problem.Line == 0:
		return problem.File
	case problem.Column == 0:
		return fmt.Sprintf("%s:%d", problem.File, problem.Line)
	}
	return fmt.Sprintf("%s:%d:%d", problem.File, problem.Line, problem.Column)
}
