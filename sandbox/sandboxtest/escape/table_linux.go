package escape

import (
	stdcmp "cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// table is one in Markdown, with a row for each attempt and a column for each
// sandbox.
type table struct {
	headings []string
	cells    map[string]map[string]string // by attempt and heading
}

// fixedColumns are those before the sandboxes'.
const fixedColumns = 2

// CompareTable holds the table of a page to what was found: the outcomes of [Try]
// or [TryProject] for the sandboxes of these headings. The rows of other attempts,
// the columns of other sandboxes, and what is around the table, is left alone; so
// is what could not be shown here but was shown on another machine. If update is
// set, the page is rewritten instead.
func CompareTable(t *testing.T, page string, update bool, outcomes map[string][]Outcome, headings ...string) {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	recorded := string(content)
	before, old, after := cutTable(recorded)
	found := readTable(old)
	for i, heading := range headings {
		found.set(heading, outcomes, i)
	}
	want := before + found.String() + after
	if update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(recorded, want); diff != "" {
		t.Errorf("%s is not what was found (-recorded +found); run this test with -update:\n%s", page, diff)
	}
}

// cutTable returns the first table of a page, and what is around it.
func cutTable(page string) (before, table, after string) {
	start := strings.Index(page, "\n|") + 1
	end := strings.Index(page[start:], "\n\n")
	if end < 0 {
		return page[:start], page[start:], ""
	}
	return page[:start], page[start : start+end+1], page[start+end+1:]
}

func readTable(text string) table {
	t := table{cells: make(map[string]map[string]string)}
	for i, line := range slices.Collect(strings.Lines(text)) {
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case len(cells) < fixedColumns || i == 1: // the rule below the headings
		case i == 0:
			t.headings = cells[fixedColumns:]
		default:
			row := make(map[string]string)
			for column, cell := range cells[fixedColumns:] {
				row[t.headings[column]] = cell
			}
			t.cells[cells[0]] = row
		}
	}
	return t
}

// set sets a column to the outcomes of that number.
func (t *table) set(heading string, outcomes map[string][]Outcome, number int) {
	if !slices.Contains(t.headings, heading) {
		t.headings = append(t.headings, heading)
	}
	for _, attempt := range rows() {
		if outcomes[attempt.Name] == nil {
			continue
		}
		row := t.cells[attempt.title()]
		if row == nil {
			row = make(map[string]string)
			t.cells[attempt.title()] = row
		}
		if outcome := outcomes[attempt.Name][number]; outcome != NotShown || row[heading] == "" {
			row[heading] = outcome.cell()
		}
	}
}

// rows are the attempts that a table has.
func rows() []Attempt { return slices.Concat(allAttempts(), projectAttempts(), grantAttempts()) }

func (o Outcome) cell() string {
	if o == Open {
		return "**open**"
	}
	return string(o)
}

// title is what a table says of an attempt.
func (a Attempt) title() string {
	if a.Root {
		return "`" + a.Name + "` (as root)"
	}
	return "`" + a.Name + "`"
}

func (t table) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "| attempt | about | %s |\n|---|---|%s\n",
		strings.Join(t.headings, " | "), strings.Repeat("---|", len(t.headings)))
	for _, attempt := range rows() {
		fmt.Fprintf(&text, "| %s | %s |", attempt.title(), attempt.Group)
		for _, heading := range t.headings {
			fmt.Fprintf(&text, " %s |", stdcmp.Or(t.cells[attempt.title()][heading], NotShown.cell()))
		}
		text.WriteByte('\n')
	}
	return text.String()
}
