package testdata

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Verdict is what a catalog makes of one skill at fault.
type Verdict string

// The verdicts.
const (
	Loads    Verdict = "loads"    // published, without a problem
	Warns    Verdict = "warns"    // published, with a warning
	Excluded Verdict = "excluded" // not published, with an error
)

// Outcome is what is expected of one directory of [Invalid].
type Outcome struct {
	// Dir is slash-separated and relative to [Invalid].
	Dir string
	// Fault says in a few words what is wrong.
	Fault string
	// Rule is the name of the rule that is reported wherever the verdict is
	// not [Loads]. Others may be reported with it.
	Rule string
	// Default and Strict are the verdicts without and with strict mode.
	Default, Strict Verdict
}

// InvalidOutcomes reads the table of the README.md in [Invalid], in its
// order. A row that makes no sense, or a table that is not there, fails t.
func InvalidOutcomes(t testing.TB) []Outcome {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(Invalid(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var outcomes []Outcome
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		outcome, ok := outcomeOf(line)
		if !ok {
			t.Fatalf("the README.md of the invalid skills has a row that is not understood: %s", line)
		}
		outcomes = append(outcomes, outcome)
	}
	if len(outcomes) == 0 {
		t.Fatal("the README.md of the invalid skills has no table")
	}
	return outcomes
}

func outcomeOf(row string) (Outcome, bool) {
	cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
	if len(cells) != 5 {
		return Outcome{}, false
	}
	for i, cell := range cells {
		cells[i] = strings.TrimSpace(cell)
	}
	outcome := Outcome{
		Dir:     strings.Trim(cells[0], "`"),
		Fault:   cells[1],
		Default: Verdict(cells[3]),
		Strict:  Verdict(cells[4]),
	}
	if cells[2] != "-" {
		outcome.Rule = strings.Trim(cells[2], "`")
	}
	return outcome, outcome.Dir != "" && known(outcome.Default) && known(outcome.Strict)
}

func known(v Verdict) bool { return v == Loads || v == Warns || v == Excluded }
