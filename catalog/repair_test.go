package catalog_test

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/testdata"
)

func TestRepair(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ before, after string }{
		{"---\nname: demo\ndescription: d\n---\nbody\r", "---\nname: demo\ndescription: d\n---\nbody\n"},
		{"\ufeff---\r\nname: demo\r\ndescription: d\r\n---\r\nbody\r\n", "---\nname: demo\ndescription: d\n---\nbody\n"},
		{"---\rname: demo\rdescription: d\r---\r", "---\nname: demo\ndescription: d\n---\n"},
		{"\n \n---\nname: demo\ndescription: d\n---", "---\nname: demo\ndescription: d\n---"},
		{"---\n\ufeffname: demo\ndescription: d\n---\n", "---\nname: demo\ndescription: d\n---\n"},
		{"---\nname: demo\ndescription: Use when: it's asked\n---\n", "---\nname: demo\ndescription: 'Use when: it''s asked'\n---\n"},
		{"---\nname: demo\ndescription: Use when: a\n  and: b c\n\n  d\nlicense: e: f\n---\n", ""}, // may be a key
		{"---\nname: demo\ndescription: Use when: a\n  b c\n\n  d\nlicense: e: f\n---\n", "---\nname: demo\ndescription: 'Use when: a\n  b c\n\n  d'\nlicense: 'e: f'\n---\n"},
		{"---\nname: demo\ndescription: Use when: a #b\n---\n", ""}, // may be a comment
		{"---\nname: 2024 # a year\ndescription: 1.0\nmetadata:\n  ok: a\n  v: 1.0\n  w: true\n  x: .inf\n  y: ~\n  z:\n---\n",
			"---\nname: '2024' # a year\ndescription: '1.0'\nmetadata:\n  ok: a\n  v: '1.0'\n  w: 'true'\n  x: '.inf'\n  y: ~\n  z:\n---\n"},
		{"---\nmetadata: {é: 1, \"f\": 2, g: 'h'}\nname: demo\n---\n", "---\nmetadata: {é: '1', \"f\": '2', g: 'h'}\nname: demo\n---\n"},
		{"---\nname: demo\nallowed_tools: Read\n---\n", "---\nname: demo\nallowed-tools: Read\n---\n"},
		{"---\nname: demo\n\"allowed_tools\": Read\n---\n", ""},
		{"---\nname: demo\nallowed_tools: Read\nallowed-tools: Write\n---\n", ""},
		{"---\nname: [\n---\n", ""},
		{"no frontmatter\r\n", ""},
		{"---\r\nname: \xff\r\n---\r\n", ""},
		{"", ""},
	} {
		want := test.after
		if want == "" {
			want = test.before
		}
		if got := string(catalog.Repair([]byte(test.before))); got != want {
			t.Errorf("%q became %q, want %q", test.before, got, want)
		}
	}
}

// TestRepairKeepsWhatIsSaid: over the table of verdicts, what is valid stays so,
// what the frontmatter says stays the same but for the types of scalars, and what
// was repaired once has nothing more to repair.
func TestRepairKeepsWhatIsSaid(t *testing.T) {
	t.Parallel()
	for _, c := range testdata.ReferenceCases(t) {
		once := catalog.Repair(c.Content)
		if twice := catalog.Repair(once); !bytes.Equal(once, twice) {
			t.Errorf("line %d: %.100q became %.100q, and then %.100q", c.Line, c.Content, once, twice)
		}
		before, _ := catalog.ParseDocument("", c.Content)
		after, _ := catalog.ParseDocument("", once)
		if before.Frontmatter != nil && scalars(before.Frontmatter) != scalars(after.Frontmatter) {
			t.Errorf("line %d: %s became %s", c.Line, before.Frontmatter, after.Frontmatter)
		}
	}
}

// scalar is a value that is no string to YAML, or was not before it was quoted.
var scalar = regexp.MustCompile(`:"?(-?[0-9][0-9a-fx.e]*|null|\.inf|true|false)"?`)

// scalars leaves out of JSON by what a string and another scalar, and the two
// spellings of allowed-tools, differ.
func scalars(text []byte) string {
	return string(bytes.ReplaceAll(scalar.ReplaceAll(text, []byte(":?")), []byte("allowed_tools"), []byte("allowed-tools")))
}
