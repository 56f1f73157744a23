package resources_test

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/resources"
)

var cleanPaths = []struct{ give, want string }{
	{"SKILL.md", "SKILL.md"},
	{".", "."},
	{"./", "."},
	{"./x", "x"},
	{"x/", "x"},
	{"x//y", "x/y"},
	{"x/.", "x"},
	{"./x/././y/", "x/y"},
	{"a b/ü#?%[1].md", "a b/ü#?%[1].md"},
	{"...", "..."},
	{"a..b/..c", "a..b/..c"},
	{"line\nbreak", "line\nbreak"},
	{"~/x", "~/x"},
	{strings.Repeat("a/", 63) + "a", strings.Repeat("a/", 63) + "a"},
	{strings.Repeat("./", 100) + "a", "a"},
	{strings.Repeat("a", 4096), strings.Repeat("a", 4096)},
}

var refusedPaths = []struct {
	give string
	want resources.Rule
}{
	{"", resources.Invalid},
	{"a\x00b", resources.Invalid},
	{"\x00", resources.Invalid},
	{`a\b`, resources.Invalid},
	{strings.Repeat("a", 4097), resources.Invalid},
	{strings.Repeat("a/", 64) + "a", resources.Invalid},
	{"/", resources.Absolute},
	{"/etc/passwd", resources.Absolute},
	{"//host/share", resources.Absolute},
	{`\\host\share`, resources.Absolute},
	{`\\?\C:\x`, resources.Absolute},
	{`\x`, resources.Absolute},
	{"C:", resources.Absolute},
	{"c:/x", resources.Absolute},
	{`Z:\x`, resources.Absolute},
	{"c:x", resources.Absolute},
	{"..", resources.Traversal},
	{"../x", resources.Traversal},
	{"x/..", resources.Traversal},
	{"x/../x", resources.Traversal},
	{"x/../../etc/passwd", resources.Traversal},
	{`..\x`, resources.Traversal},
	{`x\..\..\y`, resources.Traversal},
	{`x/..\y`, resources.Traversal},
}

func TestClean(t *testing.T) {
	t.Parallel()
	for _, test := range cleanPaths {
		got, err := resources.Clean(test.give)
		if err != nil || got != test.want {
			t.Errorf("Clean(%q) = %q, %v; want %q", test.give, got, err, test.want)
		}
	}
	for _, test := range refusedPaths {
		_, err := resources.Clean(test.give)
		wantRule(t, err, test.want)
	}
	_, err := resources.Clean("latin\xe9.md")
	wantRule(t, err, resources.Invalid)
}

// Every way into a tree refuses what Clean refuses.
func TestTreeChecksPaths(t *testing.T) {
	t.Parallel()
	tree := open(t, plant(t, map[string]string{"x/y": "y"}))
	for _, test := range refusedPaths {
		_, err := tree.Read(test.give, resources.Range{})
		wantRule(t, err, test.want)
		_, err = tree.ReadAll(test.give, 0)
		wantRule(t, err, test.want)
		_, _, err = tree.List(test.give, 1)
		wantRule(t, err, test.want)
		_, err = tree.IsDir(test.give)
		wantRule(t, err, test.want)
	}
}

// A clean path is local, in its final form, and stays as it is.
func FuzzClean(f *testing.F) {
	seeded(f, len(cleanPaths))
	seeded(f, len(refusedPaths))
	for _, test := range cleanPaths {
		f.Add(test.give)
	}
	for _, test := range refusedPaths {
		f.Add(test.give)
	}
	f.Fuzz(func(t *testing.T, give string) {
		got, err := resources.Clean(give)
		if err != nil {
			return
		}
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\\\x00") || path.IsAbs(got) || path.Clean(got) != got {
			t.Errorf("Clean(%q) = %q", give, got)
		}
		for segment := range strings.SplitSeq(got, "/") {
			if segment == ".." {
				t.Errorf("Clean(%q) = %q", give, got)
			}
		}
		if again, err := resources.Clean(got); err != nil || again != got {
			t.Errorf("Clean(%q) = %q, but Clean of that = %q, %v", give, got, again, err)
		}
	})
}
