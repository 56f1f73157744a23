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

// TestDocumentedCodes: the documented table of error codes is the code's.
func TestDocumentedCodes(t *testing.T) {
	t.Parallel()
	const page, begin, end = "../docs/tools-and-errors.md", "<!-- codes -->\n", "<!-- /codes -->\n"
	text, err := os.ReadFile(page)
	must(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	table, after, found := strings.Cut(rest, end)
	if !ok || !found {
		t.Fatalf("%s has no table between %q and %q", page, begin, end)
	}
	var want strings.Builder
	want.WriteString("| code | meaning |\n|---|---|\n") // a comment behind it would end the table
	for _, code := range slices.Sorted(maps.Keys(failure.Codes)) {
		fmt.Fprintf(&want, "| `%s` | %s |\n", code, failure.Codes[code])
	}
	if *update {
		must(t, os.WriteFile(page, []byte(before+begin+want.String()+end+after), 0o644))
		return
	}
	if diff := cmp.Diff(want.String(), table); diff != "" {
		t.Errorf("%s, codes (-want +got; -update writes them):\n%s", page, diff)
	}
}
