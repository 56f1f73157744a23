package hosted

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/anthropic"
)

// ShowSkills prints skills as a table, or as one JSON array.
func ShowSkills(out io.Writer, asJSON bool, skills iter.Seq2[anthropic.Skill, error]) error {
	return show(out, asJSON, skills, "SKILL\tNAME\tLATEST VERSION\tUPDATED", func(s anthropic.Skill) []any {
		return []any{s.ID, s.DisplayName, s.LatestVersionID, s.UpdatedAt}
	})
}

// ShowVersions prints versions as a table, or as one JSON array.
func ShowVersions(out io.Writer, asJSON bool, versions iter.Seq2[anthropic.SkillVersion, error]) error {
	return show(out, asJSON, versions, "VERSION\tCREATED\tDESCRIPTION", func(v anthropic.SkillVersion) []any {
		return []any{v.ID, v.CreatedAt, v.Description}
	})
}

// ShowFiles prints files as a table, or as one JSON array.
func ShowFiles(out io.Writer, asJSON bool, files iter.Seq2[anthropic.File, error]) error {
	return show(out, asJSON, files, "FILE\tNAME\tBYTES\tCREATED\tDOWNLOADABLE", func(f anthropic.File) []any {
		return []any{f.ID, f.Filename, f.SizeBytes, f.CreatedAt, f.Downloadable}
	})
}

// maxField is how many characters of a text a table shows.
const maxField = 60

func show[T any](out io.Writer, asJSON bool, list iter.Seq2[T, error], head string, row func(T) []any) error {
	all := []T{}
	for one, err := range list {
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	if asJSON {
		return terminal.PrintJSON(out, all)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, head)
	for _, one := range all {
		var cells []string
		for _, cell := range row(one) {
			if at, ok := cell.(time.Time); ok {
				cell = at.UTC().Format(time.DateTime)
			}
			cells = append(cells, terminal.Field(fmt.Sprint(cell), maxField))
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	return table.Flush()
}
