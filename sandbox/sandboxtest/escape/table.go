package escape

import (
	"fmt"
	"strings"
)

// Table gives the outcomes as a table in Markdown, with a column for each of
// the headings.
func Table(attempts []Attempt, outcomes map[string][]Outcome, headings ...string) string {
	var table strings.Builder
	fmt.Fprintf(&table, "| attempt | about | %s |\n|---|---|%s\n",
		strings.Join(headings, " | "), strings.Repeat("---|", len(headings)))
	for _, attempt := range attempts {
		name := "`" + attempt.Name + "`"
		if attempt.Root {
			name += " (as root)"
		}
		fmt.Fprintf(&table, "| %s | %s |", name, attempt.Group)
		for _, outcome := range outcomes[attempt.Name] {
			if outcome == Open {
				outcome = "**open**"
			}
			fmt.Fprintf(&table, " %s |", outcome)
		}
		table.WriteByte('\n')
	}
	return table.String()
}
