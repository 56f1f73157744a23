package paths_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/policy/paths"
)

var update = flag.Bool("update", false, "write the tables in docs/project.md")

// TestDocumentedLists: the documented tables are the lists.
func TestDocumentedLists(t *testing.T) {
	const page = "../../docs/project.md"
	lists := paths.Lists()
	for _, name := range []string{"hidden", "protected"} {
		text := string(read(t, page))
		begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->\n"
		before, rest, ok := strings.Cut(text, begin)
		table, after, found := strings.Cut(rest, end)
		if !ok || !found {
			t.Fatalf("%s has no table between %q and %q", page, begin, end)
		}
		want := tableOf(lists[name])
		if *update {
			if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(want, table); diff != "" {
			t.Errorf("%s, %s (-want +got; -update writes them):\n%s", page, name, diff)
		}
	}
}

func tableOf(groups []paths.Listed) string {
	table := "| what | names, at any depth | but not |\n|---|---|---|\n"
	for _, g := range groups {
		table += "| " + g.Reason + " | " + quoted(g.Names) + " | " + quoted(g.Except) + " |\n"
	}
	return table
}

func quoted(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "`" + strings.Join(names, "` `") + "`"
}
