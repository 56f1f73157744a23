package server_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// TestReadmeCodes: README's table of error codes is the code's.
func TestReadmeCodes(t *testing.T) {
	const readme, begin, end = "../README.md", "<!-- codes -->\n", "<!-- /codes -->\n"
	text, err := os.ReadFile(readme)
	must(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	table, after, found := strings.Cut(rest, end)
	if !ok || !found {
		t.Fatalf("README has no table between %q and %q", begin, end)
	}
	var want strings.Builder
	want.WriteString("| code | meaning |\n|---|---|\n") // a comment behind it would end the table
	for _, code := range slices.Sorted(maps.Keys(failure.Codes)) {
		fmt.Fprintf(&want, "| `%s` | %s |\n", code, failure.Codes[code])
	}
	if *update {
		must(t, os.WriteFile(readme, []byte(before+begin+want.String()+end+after), 0o644))
		return
	}
	if diff := cmp.Diff(want.String(), table); diff != "" {
		t.Errorf("README's table of codes (-want +got; -update writes it):\n%s", diff)
	}
}
