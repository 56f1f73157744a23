package server_test

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/redact"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/server"
)

// longSecret is a value of which a few bytes are found in nothing else.
const longSecret = "sk-live-4f9a8b7c6d5e0Zz-Qq_Xx2Ww9Vv"

// pieces returns the pieces of a form that a text holds, of so many bytes that they
// are no accident.
func pieces(text, form string) (found []string) {
	const size = 5
	for at := range len(form) - size {
		if piece := form[at : at+size]; !strings.Contains("API_TOKEN", piece) && strings.Contains(text, piece) {
			found = append(found, piece)
		}
	}
	return found
}

// partsFixture serves files in which a value is written in some form.
func partsFixture(t *testing.T, files map[string]string) *fixture {
	t.Helper()
	files["leaky/SKILL.md"] = "---\nname: leaky\ndescription: Leaks.\n---\n"
	set := &redact.Set{}
	set.Add("API_TOKEN", longSecret)
	return newFixtureOf(t, testfiles.Dir(t, files), func(opts *server.Options) { opts.Redact = set }, "toolset=workspace")
}

// TestPagesHoldNoPartOfASecret: a client that has a file in parts gets no part of a
// value, wherever it has the file cut.
func TestPagesHoldNoPartOfASecret(t *testing.T) {
	t.Parallel()
	encoded := base64.StdEncoding.EncodeToString([]byte("xyz" + longSecret))[4:]
	for name, form := range map[string]string{"as it is": longSecret, "base64": encoded, "hexadecimal": hex.EncodeToString([]byte(longSecret)), "binary": longSecret} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := "begin "
			if name == "binary" {
				begin = "begin\x00"
			}
			c := partsFixture(t, map[string]string{"leaky/file": begin + form + "= and end"}).connect(t)
			read := func(offset, length int) string {
				a := c.call(t, "readResource", map[string]any{"name": "leaky", "path": "file", "offset": offset, "length": length})
				if a.IsError {
					t.Fatal(a.text())
				}
				text := a.text()
				for _, part := range a.Content {
					blob, err := base64.StdEncoding.DecodeString(part.Resource.Blob)
					must(t, err)
					text += string(blob)
				}
				return text
			}
			for cut := 1; cut < len(begin+form); cut++ {
				for _, page := range []string{read(0, cut), read(cut, 0), read(max(cut-3, 0), 7)} {
					if found := pieces(page, form); len(found) > 0 {
						t.Fatalf("cut at %d: %q in %q", cut, found, page)
					}
				}
			}
		})
	}
}

// TestCutsHoldNoPartOfASecret: the same where the server cuts by itself, and where
// it writes line numbers between.
func TestCutsHoldNoPartOfASecret(t *testing.T) {
	t.Parallel()
	const page, line = 100_000, 20_000
	encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 50) + longSecret + strings.Repeat("y", 50)))
	wrapped := encoded[:76] + "\n" + encoded[76:]
	f := partsFixture(t, map[string]string{
		"leaky/page": strings.Repeat("x", page-9) + longSecret + " and more",
		"leaky/line": "first\n" + strings.Repeat("x", line-9) + longSecret + strings.Repeat("y", line) + "\nlast\n",
		"leaky/wrap": wrapped + "\nlast\n",
	})
	c := f.connect(t)
	for _, call := range []struct {
		tool, form string
		arguments  map[string]any
	}{
		{"readResource", longSecret, map[string]any{"name": "leaky", "path": "page"}},
		{"readResource", longSecret, map[string]any{"name": "leaky", "path": "page", "offset": page}},
		{"view", longSecret, map[string]any{"name": "leaky", "path": "/skill/line"}},
		{"view", encoded[68:112], map[string]any{"name": "leaky", "path": "/skill/wrap"}},
		{"view", encoded[68:112], map[string]any{"name": "leaky", "path": "/skill/wrap", "view_range": []int{1, 1}}},
		{"view", encoded[68:112], map[string]any{"name": "leaky", "path": "/skill/wrap", "view_range": []int{2, -1}}},
	} {
		a := c.call(t, call.tool, call.arguments)
		if found := pieces(a.text(), call.form); a.IsError || len(found) > 0 {
			t.Errorf("%s %v: %q in %.300s", call.tool, call.arguments, found, a.text()[max(0, len(a.text())-300):])
		}
	}
	made := c.call(t, "create_file", map[string]any{"path": "/workspace/wrap", "file_text": "old\n" + wrapped + "\n"})
	if made.IsError {
		t.Fatal(made.text())
	}
	if a := c.call(t, "str_replace", map[string]any{"path": "/workspace/wrap", "old_str": "old", "new_str": "new"}); a.IsError || len(pieces(a.text(), encoded[68:112])) > 0 ||
		!strings.Contains(a.text(), "     1\tnew\n     2\teHh4") {
		t.Errorf("str_replace: %s", a.text())
	}
}
