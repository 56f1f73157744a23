package yamldoc_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/yamldoc"
)

func TestParseStrict(t *testing.T) {
	t.Parallel()
	const source = "\ufeffa:\n  - 1\n  - -2.5e+3\n  - true\n  - ~\n  - 'yes'\n  - |\n    two\n    lines\nb c: {}\n"
	document, refusals := yamldoc.ParseStrict([]byte(source))
	if refusals != nil {
		t.Fatal(refusals)
	}
	if got, want := string(document.JSON), `{"a":[1,-2.5e+3,true,null,"yes","two\nlines\n"],"b c":{}}`; got != want {
		t.Errorf("%s\nis not %s", got, want)
	}
	for _, c := range []struct {
		path         string
		atKey        bool
		line, column int
	}{{"a", true, 1, 1}, {"a", false, 2, 3}, {"a/1", false, 3, 5}, {"b c", true, 10, 1}, {"a/7", false, 2, 3}, {"none/x", true, 1, 1}} {
		if line, column := document.Position(strings.Split(c.path, "/"), c.atKey); line != c.line || column != c.column {
			t.Errorf("%s is at %d:%d, not %d:%d", c.path, line, column, c.line, c.column)
		}
	}
	if empty, refusals := yamldoc.ParseStrict([]byte("# nothing\n")); refusals != nil || string(empty.JSON) != "null" {
		t.Errorf("%s, %v", empty.JSON, refusals)
	}
}

func TestParseStrictRefuses(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]yamldoc.Refusal{
		"a: &x 1\nb: *x\n":   {1, 4, "anchors and aliases"},
		"a: !!str 1\n":       {1, 4, "tags"},
		"a: yes\n":           {1, 4, `"yes" is a text to some`},
		"a: 010\n":           {1, 4, `"010" is no text`},
		"a: .inf\n":          {1, 4, `".inf" is no text`},
		"a: 2026-11-22\n":    {1, 4, `"2026-11-22" is`},
		"a: 1\nb: 2\na: 3\n": {3, 1, `the key "a" stands there twice, first on line 1`},
		"1: a\n":             {1, 1, "a key is not a text"},
		"? [a]\n: b\n":       {1, 3, "a key is not a text"},
		"a: \x1b\n":          {1, 4, "not UTF-8, or holds a control character"},
		"a: [\n":             {0, 0, "not YAML that can be read"},
		"a: 1\n---\nb: 2\n":  {0, 0, "more than one YAML document"},
		strings.Repeat("[", 40) + strings.Repeat("]", 40): {1, 33, "nest more than 32 deep"},
	} {
		document, refusals := yamldoc.ParseStrict([]byte(source))
		if document != nil || len(refusals) == 0 {
			t.Errorf("%q is read", source)
			continue
		}
		got := refusals[0]
		if want.Line > 0 && (got.Line != want.Line || got.Column != want.Column) || !strings.Contains(got.Message, want.Message) {
			t.Errorf("%q: %+v", source, got)
		}
	}
}

func FuzzParseStrict(f *testing.F) {
	for _, seed := range []string{"a: 1\n", "a: [b, {c: d}]\n", "- 'x'\n- \"y\"\n", "a: &a [*a]\n", "? a\n: b\n", "--- |\n x\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		document, refusals := yamldoc.ParseStrict(source)
		if (document == nil) == (len(refusals) == 0) {
			t.Fatalf("%v, %v", document, refusals)
		}
		if document != nil && !json.Valid(document.JSON) {
			t.Errorf("%q", document.JSON)
		}
	})
}
