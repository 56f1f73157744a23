package catalog_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/catalog"
)

var update = flag.Bool("update", false, "write the table of rules in docs/writing-skills.md")

// TestDocumentedRules: the documented table of rules is the code's.
func TestDocumentedRules(t *testing.T) {
	const page, begin, end = "../docs/writing-skills.md", "<!-- rules -->\n", "<!-- /rules -->\n"
	text, err := os.ReadFile(page)
	check(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	table, after, found := strings.Cut(rest, end)
	if !ok || !found {
		t.Fatalf("%s has no table between %q and %q", page, begin, end)
	}
	want := rulesTable()
	if *update {
		check(t, os.WriteFile(page, []byte(before+begin+want+end+after), 0o644))
		return
	}
	if diff := cmp.Diff(want, table); diff != "" {
		t.Errorf("%s, rules (-want +got; -update writes them):\n%s", page, diff)
	}
}

func rulesTable() string {
	table := "| rule | by default | with `--strict` | what to do |\n|---|---|---|---|\n"
	for _, rule := range catalog.Rules() {
		table += fmt.Sprintf("| `%s` | %v | %v | %s |\n", rule.Name, rule.Lenient, rule.Strict, inTable(rule.Hint))
	}
	return table
}

// inTable keeps a hint in its cell, and what stands in it from being taken
// for markup.
func inTable(text string) string {
	return strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`, "_", `\_`).Replace(text)
}
