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

var update = flag.Bool("update", false, "write the generated part of README.md anew")

// TestReadmeRules: README's table of rules is the code's.
func TestReadmeRules(t *testing.T) {
	const readme, begin, end = "../README.md", "<!-- rules -->\n", "<!-- /rules -->\n"
	text, err := os.ReadFile(readme)
	check(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	table, after, found := strings.Cut(rest, end)
	if !ok || !found {
		t.Fatalf("README has no table between %q and %q", begin, end)
	}
	want := rulesTable()
	if *update {
		check(t, os.WriteFile(readme, []byte(before+begin+want+end+after), 0o644))
		return
	}
	if diff := cmp.Diff(want, table); diff != "" {
		t.Errorf("README's table of rules (-want +got; -update writes it):\n%s", diff)
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
