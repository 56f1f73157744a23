package catalog_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
)

func TestParseDocument(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text              string
		frontmatter, body, rule string
	}{
		{"plain", "---\na: b\n---\nbody\n", `{"a":"b"}`, "body\n", ""},
		{"nothing after", "---\na: b\n---", `{"a":"b"}`, "", ""},
		{"byte-order mark and CRLF", "\ufeff---\r\na: b\r\nc: |\r\n  x\r\n  y\r\n---\r\nbody\r\n", `{"a":"b","c":"x\ny\n"}`, "body\r\n", ""},
		{"blanks after the delimiters", "--- \t\na: b\n---  \nbody", `{"a":"b"}`, "body", ""},
		{"keys keep their order", "---\nz: 1\na: 2\nm: {y: 1, b: 2}\n---\n", `{"z":1,"a":2,"m":{"y":1,"b":2}}`, "", ""},
		{"an indented delimiter is text", "---\na: |\n  ---\n  x\n---\nb", `{"a":"---\nx\n"}`, "b", ""},
		{"rulers in the body", "---\na: b\n---\nx\n---\ny\n", `{"a":"b"}`, "x\n---\ny\n", ""},
		{"comments", "---\n# c\na: b # c\n---\n", `{"a":"b"}`, "", ""},
		{"HTML is not escaped", "---\na: <b> & \"c\"\n---\n", `{"a":"<b> & \"c\""}`, "", ""},
		{"blank lines before", "\n\r\n---\na: b\n---\nx", `{"a":"b"}`, "x", "frontmatter-blank-lines"},
		{"empty file", "", "", "", "frontmatter-missing"},
		{"no frontmatter", "# Title\n", "", "# Title\n", "frontmatter-missing"},
		{"four hyphens", "----\na: b\n---\n", "", "----\na: b\n---\n", "frontmatter-missing"},
		{"indented first delimiter", " ---\na: b\n---\n", "", " ---\na: b\n---\n", "frontmatter-missing"},
		{"not closed", "---\na: b\n", "", "---\na: b\n", "frontmatter-unclosed"},
		{"three dots do not close", "---\na: b\n...\nbody\n", "", "---\na: b\n...\nbody\n", "frontmatter-unclosed"},
		{"empty frontmatter", "---\n---\nx", "", "x", "frontmatter-type"},
		{"comment only", "---\n# c\n---\nx", "", "x", "frontmatter-type"},
		{"list", "---\n- a\n---\nx", "", "x", "frontmatter-type"},
		{"scalar", "---\njust text\n---\nx", "", "x", "frontmatter-type"},
		{"two documents", "---\na: b\n...\nc: d\n---\nx", "", "x", "yaml-documents"},
		{"broken", "---\na: [b\n---\nx", "", "x", "yaml-syntax"},
		{"tab as indentation", "---\na:\n\tb: c\n---\nx", "", "x", "yaml-syntax"},
		{"control character", "---\na: \x01\n---\nx", "", "x", "yaml-syntax"},
		{"not UTF-8", "---\na: \xff\n---\nx", "", "x", "encoding"},
		{"UTF-16", "\xff\xfe-\x00-\x00-\x00\n\x00", "", "\ufffd-\x00-\x00-\x00\n\x00", "body-encoding frontmatter-missing"},
		{"body not UTF-8", "---\na: b\n---\n\xffx", `{"a":"b"}`, "\ufffdx", "body-encoding"},
		{"key twice", "---\na: 1\nb: 2\na: 3\n---\n", "", "", "yaml-duplicate-key"},
		{"key twice, inside", "---\na: {b: 1, 'b': 2}\n---\n", "", "", "yaml-duplicate-key"},
		{"number as key", "---\n1.0: a\n---\n", `{"1.0":"a"}`, "", "yaml-key-scalar"},
		{"boolean as key", "---\na: {true: b}\n---\n", `{"a":{"true":"b"}}`, "", "yaml-key-scalar"},
		{"null as key", "---\n~: b\n---\n", `{"~":"b"}`, "", "yaml-key-scalar"},
		{"nothing as key", "---\n? \n: b\n---\n", "", "", "yaml-key-type"},
		{"one key as number and text", "---\n1: a\n'1': b\n---\n", "", "", "yaml-duplicate-key yaml-key-scalar"},
		{"next line", "---\na: b\u0085allowed-tools: Read\n---\n", "", "", "yaml-syntax"},
		{"line separator", "---\na: b\n# c\u2028allowed-tools: Read\n---\n", "", "", "yaml-syntax"},
		{"paragraph separator", "---\na: |\n  b\u2029c\n---\n", "", "", "yaml-syntax"},
		{"separators as escapes", "---\na: \"b\\Lc\\Nd\\P\"\n---\n\u2028", "{\"a\":\"b\\u2028c\u0085d\\u2029\"}", "\u2028", ""},
		{"list as key", "---\n? [a]\n: b\n---\n", "", "", "yaml-key-type"},
		{"unknown alias", "---\na: *b\n---\n", "", "", "yaml-syntax"},
		{"alias to itself", "---\na: &a [*a]\n---\n", "", "", "yaml-depth"},
		{"unknown tag", "---\na: !x b\n---\n", `{"a":"b"}`, "", "yaml-tag"},
		{"infinity", "---\na: -.inf\n---\n", `{"a":null}`, "", "yaml-number"},
	} {
		doc, problems := catalog.ParseDocument("SKILL.md", []byte(test.text))
		if string(doc.Frontmatter) != test.frontmatter || doc.Body != test.body {
			t.Errorf("%s: frontmatter %s, body %q; want %s, %q", test.name, doc.Frontmatter, doc.Body, test.frontmatter, test.body)
		}
		if got := rules(problems); got != test.rule {
			t.Errorf("%s: broke %q, want %q: %v", test.name, got, test.rule, problems)
		}
		for _, p := range problems {
			if p.File != "SKILL.md" || p.Message == "" || p.Hint == "" || p.Line < 1 && p.Rule != "body-encoding" {
				t.Errorf("%s: problem lacks something: %+v", test.name, p)
			}
		}
	}
}

func TestProblemsSayWhere(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text         string
		line, column int
	}{
		{"---\na: b\nc: \xff\n---\n", 3, 4},
		{"\n---\na: b\na: c\n---\n", 0, 0}, // blank lines are told first, at 1:1
		{"---\na: b\né: {x: 1, x: 2}\n---\n", 3, 11},
		{"---\na: b\nc:\n  d: 1\n  2: e\n---\n", 5, 3},
		{"---\na: b\nc: d: e\n---\n", 3, 1},
		{"---\na: b\nc: \"x\n---\n", 3, 4},
		{"---\na: b\nc: [x\n---\n", 3, 4},
		{"---\na: b\nc: @x\n---\n", 3, 4},
		{"---\na: \"\\ud83d\"\n---\n", 2, 7},
		{"---\na: \"é\\ud83d\\ude00\\ud83d\\ude00\\ud83d\"\n---\n", 2, 32},
		{"---\na: {x: \"\\ud83d\\ude00\", x: 2}\n---\n", 2, 24},
		{"---\na: b\nc: &é d\n---\n", 3, 5},
		{"---\na: b\n", 1, 1},
	} {
		_, problems := catalog.ParseDocument("f", []byte(test.text))
		if len(problems) == 0 {
			t.Errorf("%q: no problem", test.text)
			continue
		}
		if p := problems[0]; test.line > 0 && (p.Line != test.line || p.Column != test.column) {
			t.Errorf("%q: %s at %d:%d, want %d:%d", test.text, p.Rule, p.Line, p.Column, test.line, test.column)
		}
	}
}

// bomb is the billion laughs: each level holds the one before ten times.
func bomb(levels int) string {
	var text strings.Builder
	text.WriteString("---\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < levels; i++ {
		fmt.Fprintf(&text, "a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10))
	}
	text.WriteString("---\n")
	return text.String()
}

// parseMeasured fails the test if parsing takes much memory, which what is
// quadratic does too.
func parseMeasured(t *testing.T, text string) (catalog.Document, []catalog.Problem) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	doc, problems := catalog.ParseDocument("f", []byte(text))
	runtime.ReadMemStats(&after)
	if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 512 {
		t.Errorf("%.40q took %d MiB", text, allocated)
	}
	return doc, problems
}

// TestBombsEndEarly measures memory, so nothing may run beside it.
func TestBombsEndEarly(t *testing.T) {
	long := strings.Repeat("x", 30_000)
	for name, test := range map[string]struct{ text, rule string }{
		"laughs":        {bomb(9), "yaml-alias"},
		"long strings":  {"---\na: &a " + long + "\nb: [" + strings.Repeat("*a,", 5000) + "]\n---\n", "yaml-alias"},
		"nested lists":  {"---\na: " + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "\n---\n", "yaml-syntax"},
		"deep lists":    {"---\na: " + strings.Repeat("[", 500) + strings.Repeat("]", 500) + "\n---\n", "yaml-depth"},
		"deep maps":     {"---\na: " + strings.Repeat("{a: ", 500) + strings.Repeat("}", 500) + "\n---\n", "yaml-depth"},
		"too long":      {"---\na: " + strings.Repeat("x", 64<<10) + "\n---\n", "frontmatter-size"},
		"never closed":  {"---\na: " + strings.Repeat("x\n", 64<<10), "frontmatter-size"},
		"many keys":     {"---\n? " + strings.Repeat("? ", 15_000) + "\n---\n", "yaml-syntax"},
		"aliases twice": {"---\na: &a [*b]\nb: &b [*a]\n---\n", "yaml-syntax"},
	} {
		doc, problems := parseMeasured(t, test.text)
		if doc.Frontmatter != nil || rules(problems) != test.rule {
			t.Errorf("%s: frontmatter of %d bytes, broke %q, want %q", name, len(doc.Frontmatter), rules(problems), test.rule)
		}
	}
	for name, text := range map[string]string{
		"flow list": "a: [" + strings.Repeat("! a,", 16_000) + "]",
		"pairs":     "a: [" + strings.Repeat("a: b,", 12_000) + "]",
		"items":     strings.Repeat("- a\n", 16_000),
		"colons":    strings.Repeat("a: b: c\n  d\n", 5000),
	} {
		doc, problems := parseMeasured(t, "---\n"+text+"\n---\n")
		if len(problems) > 101 {
			t.Errorf("%s: %d problems", name, len(problems))
		}
		if failed := doc.Frontmatter == nil; failed != (name == "items" || name == "colons") {
			t.Errorf("%s: broke %q", name, rules(problems))
		}
	}
	doc, problems := catalog.ParseDocument("f", []byte("---\na: &a {b: [1, 2]}\nc: *a\nd: [*a, *a]\n---\n"))
	if want := `{"a":{"b":[1,2]},"c":{"b":[1,2]},"d":[{"b":[1,2]},{"b":[1,2]}]}`; string(doc.Frontmatter) != want || len(problems) > 0 {
		t.Errorf("harmless aliases: %s, %v; want %s", doc.Frontmatter, problems, want)
	}
}
