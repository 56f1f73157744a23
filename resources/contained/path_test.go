package contained_test

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/filetest"
)

var refusedPaths = []struct {
	give string
	want contained.Rule
}{
	{"", contained.Invalid},
	{"a\x00b", contained.Invalid},
	{"\x00", contained.Invalid},
	{`a\b`, contained.Invalid},
	{strings.Repeat("a", 4097), contained.Invalid},
	{strings.Repeat("a/", 64) + "a", contained.Invalid},
	{"/", contained.Absolute},
	{"/etc/passwd", contained.Absolute},
	{"//host/share", contained.Absolute},
	{`\\host\share`, contained.Absolute},
	{`\\?\C:\x`, contained.Absolute},
	{`\x`, contained.Absolute},
	{"C:", contained.Absolute},
	{"c:/x", contained.Absolute},
	{`Z:\x`, contained.Absolute},
	{"c:x", contained.Absolute},
	{"..", contained.Traversal},
	{"../x", contained.Traversal},
	{"x/..", contained.Traversal},
	{"x/../x", contained.Traversal},
	{"x/../../etc/passwd", contained.Traversal},
	{`..\x`, contained.Traversal},
	{`x\..\..\y`, contained.Traversal},
	{`x/..\y`, contained.Traversal},
}

func TestClean(t *testing.T) {
	t.Parallel()
	for _, test := range filetest.CleanPaths {
		got, err := contained.Clean(test.Give)
		if err != nil || got != test.Want {
			t.Errorf("Clean(%q) = %q, %v; want %q", test.Give, got, err, test.Want)
		}
	}
	for _, test := range refusedPaths {
		_, err := contained.Clean(test.give)
		filetest.WantRule(t, err, test.want)
	}
	_, err := contained.Clean("latin\xe9.md")
	filetest.WantRule(t, err, contained.Invalid)
}

// Every way into a opened refuses what Clean refuses.
func TestDirChecksPaths(t *testing.T) {
	t.Parallel()
	opened := filetest.Open(t, filetest.Plant(t, map[string]string{"x/y": "y"}), contained.Options{})
	for _, test := range refusedPaths {
		_, err := filetest.Read(opened, test.give, contained.Range{})
		filetest.WantRule(t, err, test.want)
		_, err = opened.ReadAll(test.give, 0)
		filetest.WantRule(t, err, test.want)
		_, _, err = opened.List(test.give, 1)
		filetest.WantRule(t, err, test.want)
		_, err = opened.IsDir(test.give)
		filetest.WantRule(t, err, test.want)
	}
}

// A clean path is local, in its final form, and stays as it is.
func FuzzClean(f *testing.F) {
	filetest.Seeded(f, len(filetest.CleanPaths))
	filetest.Seeded(f, len(refusedPaths))
	for _, test := range filetest.CleanPaths {
		f.Add(test.Give)
	}
	for _, test := range refusedPaths {
		f.Add(test.give)
	}
	f.Fuzz(func(t *testing.T, give string) {
		got, err := contained.Clean(give)
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
		if again, err := contained.Clean(got); err != nil || again != got {
			t.Errorf("Clean(%q) = %q, but Clean of that = %q, %v", give, got, again, err)
		}
	})
}
