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
			flags.audit = auditOff // nothing is called
			// What the scan would log is printed.
			runtime, err := flags.open(command.Context(), io.Discard, roots)
			if err != nil {
				return err
			}
			defer runtime.close()
			skills, problems := runtime.catalog.Snapshot().Skills(), allProblems(command.Context(), runtime.catalog.Snapshot())
			shown := runtime.shown()
			if asJSON {
				return listJSON(command.OutOrStdout(), skills, problems, shown)
			}
			return listText(command.OutOrStdout(), skills, problems, shown)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

func listText(out io.Writer, skills []*catalog.Skill, problems []catalog.Problem, shown []string) error {
	var text strings.Builder
	for _, skill := range skills {
		fmt.Fprintf(&text, "%s\n    %s\n    %s\n", skill.Name, shorten(skill.Description, 100), printable(filepath.Join(skill.Dir, skill.Entry)))
	}
	fmt.Fprintf(&text, "%d skills, %d problems\n", len(skills), len(problems))
	for _, problem := range problems {
		fmt.Fprintf(&text, "\n%s: %s: %s [%s]\n", printable(position(problem)), problem.Severity, printable(problem.Message), problem.Rule)
		if problem.Hint != "" {
			fmt.Fprintf(&text, "    %s\n", problem.Hint)
		}
	}
	if len(shown) > 0 {
		text.WriteString("\nprograms of skills see, besides the system's files:\n")
		for _, name := range shown {
			fmt.Fprintf(&text, "    %s\n", printable(name))
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}

type listedSkill struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Path        string          `json:"path"`
	Frontmatter json.RawMessage `json:"frontmatter"`
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

func listJSON(out io.Writer, skills []*catalog.Skill, problems []catalog.Problem, shown []string) error {
	listing := struct {
		Skills   []listedSkill   `json:"skills"`
		Problems []listedProblem `json:"problems"`
		// Shown is what programs see of this machine besides the system's files.
		Shown []string `json:"shown,omitempty"`
	}{[]listedSkill{}, []listedProblem{}, shown}
	for _, skill := range skills {
		listing.Skills = append(listing.Skills, listedSkill{skill.Name, skill.Description, filepath.Join(skill.Dir, skill.Entry), skill.Frontmatter})
	}
	for _, p := range problems {
		listing.Problems = append(listing.Problems, listedProblem{p.Severity.String(), p.Skill, p.File, p.Line, p.Column, p.Rule, p.Message, p.Hint})
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(listing)
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
