package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/testdata"
)

// manySkills is the size of a large catalogue.
const manySkills = 5000

// listedBy are the lists, each with what names an entry.
var listedBy = map[string]struct{ list, name string }{
	"resources/list": {"resources", "uri"},
	"prompts/list":   {"prompts", "name"},
	"skills/list":    {"skills", "uri"},
}

// TestPages: every list gives every skill exactly once, in one order, on both
// transports.
func TestPages(t *testing.T) {
	t.Parallel()
	skills := testenv.Rounds(t, manySkills/4, manySkills)
	f := newFixture(t, testdata.Generate(t, skills))
	url := f.serveHTTP(t)
	transports := map[string]func(testing.TB, string, map[string]any) []byte{
		"stdio": func(t testing.TB, method string, params map[string]any) []byte {
			return f.exchange(t, method, params)
		},
		"http": func(_ testing.TB, method string, params map[string]any) []byte {
			_, body := post(t, url+"/mcp", rpc(1, method, modern(params)), modernHeaders(method, "")...)
			return body
		},
	}
	for method := range listedBy {
		var first []string
		for transport, ask := range transports {
			names, pages := allPages(t, method, ask)
			if pages < 2 {
				t.Errorf("%s over %s came in %d pages", method, transport, pages)
			}
			seen := map[string]bool{}
			for _, name := range names {
				seen[name] = true
			}
			if len(names) != skills || len(seen) != skills {
				t.Errorf("%s over %s: %d entries, %d different, of %d skills", method, transport, len(names), len(seen), skills)
			}
			if first != nil && fmt.Sprint(first) != fmt.Sprint(names) {
				t.Errorf("%s is in another order over %s", method, transport)
			}
			first = names
		}
	}
}

// allPages follows the cursors of a list to its end.
func allPages(t testing.TB, method string, ask func(testing.TB, string, map[string]any) []byte) (names []string, pages int) {
	t.Helper()
	keys := listedBy[method]
	params := map[string]any{}
	for pages = 1; ; pages++ {
		var response struct{ Result map[string]json.RawMessage }
		body := ask(t, method, params)
		if err := json.Unmarshal(body, &response); err != nil || response.Result == nil {
			t.Fatalf("%s: %.300s (%v)", method, body, err)
		}
		var entries []map[string]any
		if err := json.Unmarshal(response.Result[keys.list], &entries); err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			names = append(names, entry[keys.name].(string))
		}
		var cursor string
		if raw, more := response.Result["nextCursor"]; more {
			if err := json.Unmarshal(raw, &cursor); err != nil {
				t.Fatal(err)
			}
		}
		if cursor == "" {
			return names, pages
		}
		params = map[string]any{"cursor": cursor}
	}
}

// BenchmarkPages shows that a list costs as much a skill in a large catalogue
// as in a small one, also where the skills have problems.
func BenchmarkPages(b *testing.B) {
	catalogues := map[string]func(testing.TB, int) string{"": testdata.Generate, "-faulty": generateFaulty}
	for method := range listedBy {
		for kind, generate := range catalogues {
			for _, n := range []int{1000, manySkills} {
				b.Run(fmt.Sprintf("%s/%d%s", method, n, kind), func(b *testing.B) {
					f := newFixture(b, generate(b, n))
					for b.Loop() {
						allPages(b, method, func(t testing.TB, method string, params map[string]any) []byte {
							return f.exchange(t, method, params)
						})
					}
					b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/skill")
				})
			}
		}
	}
}

// generateFaulty writes skills of which each breaks rules many times, so that
// it is served with as many warnings.
func generateFaulty(t testing.TB, n int) string {
	t.Helper()
	root := testdata.Generate(t, n)
	var unknown strings.Builder
	for i := range 100 { // more of one file are not told
		fmt.Fprintf(&unknown, "\nx%d: %d", i, i)
	}
	for i := range n {
		file := filepath.Join(root, fmt.Sprintf("skill-%05d", i), "SKILL.md")
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, bytes.Replace(text, []byte("\n---\n"), []byte(unknown.String()+"\n---\n"), 1), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}
