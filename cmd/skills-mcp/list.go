package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

func newListCommand(flags *settings) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:     "list [ROOT...]",
		Short:   "Print the skills and what is wrong with them",
		Example: "  skills-mcp list ./my-skills\n  skills-mcp list --strict --json ./my-skills",
		Args:    cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, roots []string) error {
			flags.unrecorded = true // nothing is called
			// What the scan would log is printed.
			runtime, err := flags.open(command.Context(), io.Discard, roots)
			if err != nil {
				return err
			}
			defer runtime.close()
			snapshot := runtime.catalog.Snapshot()
			list := listing{snapshot.Skills(), snapshot.Hidden(), allProblems(command.Context(), snapshot), runtime.shown(), flags}
			print := list.text
			if asJSON {
				print = list.json
			}
			if err := print(command.OutOrStdout()); err != nil {
				return err
			}
			return flags.projectFault()
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

// listing is what there is to list.
type listing struct {
	skills, hidden []*catalog.Skill
	problems       []catalog.Problem
	shown          []string // what programs see besides the system's files
	settings       *settings
}

// why says why a skill is hidden.
func (l listing) why(skill *catalog.Skill) string {
	if l.settings.Disables(skill.Name) {
		return "disabled"
	}
	return "not visible"
}

func (l listing) text(out io.Writer) error {
	var text strings.Builder
	for _, skill := range l.skills {
		writeSkill(&text, skill, "")
	}
	for _, skill := range l.hidden {
		writeSkill(&text, skill, " ("+l.why(skill)+")")
	}
	fmt.Fprintf(&text, "%d skills, %d problems", len(l.skills), len(l.problems))
	if len(l.hidden) > 0 {
		fmt.Fprintf(&text, ", %d hidden", len(l.hidden))
	}
	text.WriteString("\n")
	for _, problem := range l.problems {
		fmt.Fprintf(&text, "\n%s: %s: %s [%s]\n", printable(position(problem)), problem.Severity, printable(problem.Message), problem.Rule)
		if problem.Hint != "" {
			fmt.Fprintf(&text, "    %s\n", problem.Hint)
		}
	}
	if len(l.shown) > 0 {
		text.WriteString("\nprograms of skills see, besides the system's files:\n")
		for _, name := range l.shown {
			fmt.Fprintf(&text, "    %s\n", printable(name))
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func writeSkill(text *strings.Builder, skill *catalog.Skill, mark string) {
	fmt.Fprintf(text, "%s%s\n    %s\n    %s\n", skill.Name, mark, shorten(skill.Description, 100), printable(filepath.Join(skill.Dir, skill.Entry)))
}

type listedSkill struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Path        string          `json:"path"`
	Frontmatter json.RawMessage `json:"frontmatter"`
	// Hidden says why no client sees it.
	Hidden string `json:"hidden,omitempty"`
}

type listedProblem struct {
	Severity string `json:"severity"`
	Skill    string `json:"skill,omitempty"`
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Rule     string `json:"rule"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

func (l listing) json(out io.Writer) error {
	listing := struct {
		Skills   []listedSkill   `json:"skills"`
		Hidden   []listedSkill   `json:"hidden,omitempty"`
		Problems []listedProblem `json:"problems"`
		// Shown is what programs see of this machine besides the system's files.
		Shown []string `json:"shown,omitempty"`
	}{Skills: []listedSkill{}, Problems: []listedProblem{}, Shown: l.shown}
	for _, skill := range l.skills {
		listing.Skills = append(listing.Skills, listed(skill, ""))
	}
	for _, skill := range l.hidden {
		listing.Hidden = append(listing.Hidden, listed(skill, l.why(skill)))
	}
	for _, p := range l.problems {
		listing.Problems = append(listing.Problems, listedProblem{p.Severity.String(), p.Skill, p.File, p.Line, p.Column, p.Rule, p.Message, p.Hint})
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(listing)
}

func listed(skill *catalog.Skill, hidden string) listedSkill {
	return listedSkill{skill.Name, skill.Description, filepath.Join(skill.Dir, skill.Entry), skill.Frontmatter, hidden}
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

// shorten puts an author's text on one line of at most n characters.
func shorten(text string, n int) string {
	return truncate.To(printable(strings.Join(strings.Fields(text), " ")), n)
}

// printable leaves out what does not show itself, such as terminal escapes
// and overrides of the direction of writing, which a skill could hide behind.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c != ' ' && !unicode.IsGraphic(c) {
			return -1
		}
		return c
	}, text)
}
