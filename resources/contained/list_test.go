package contained_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/filetest"
)

func TestList(t *testing.T) {
	t.Parallel()
	opened := filetest.Open(t, filetest.Plant(t, map[string]string{
		"a.txt": "12", "a/b/c/d.md": "d", "a/z.py": "z", "a-b": "x", "B": "x", "empty/": "", "a/.git/config": "x", "a/node_modules/m/n.js": "x",
	}), contained.Options{})
	file := func(path, mime string, size int64) contained.Entry {
		return contained.Entry{Path: path, MIME: mime, Size: size}
	}
	dir := func(path string) contained.Entry {
		return contained.Entry{Path: path, Dir: true, MIME: "inode/directory"}
	}
	b, ab, atxt := file("B", "", 1), file("a-b", "", 1), file("a.txt", "text/plain", 2)
	tests := []struct {
		dir   string
		depth int
		want  []contained.Entry
	}{
		{".", 1, []contained.Entry{b, dir("a"), ab, atxt, dir("empty")}},
		{".", 0, []contained.Entry{b, dir("a"), ab, atxt, dir("empty")}},
		{".", -1, []contained.Entry{b, dir("a"), ab, atxt, dir("empty")}},
		// Byte order of whole paths: "-" and "." come before "/".
		{".", 2, []contained.Entry{b, dir("a"), ab, atxt, dir("a/b"), file("a/z.py", "text/x-python", 1), dir("empty")}},
		{"a", 1, []contained.Entry{dir("a/b"), file("a/z.py", "text/x-python", 1)}},
		{"./a//b/", 1, []contained.Entry{dir("a/b/c")}},
		{"a", 100, []contained.Entry{dir("a/b"), dir("a/b/c"), file("a/b/c/d.md", "text/markdown", 1), file("a/z.py", "text/x-python", 1)}},
		{"empty", 1, nil},
	}
	for _, test := range tests {
		got, more, err := opened.List(test.dir, test.depth)
		if err != nil || more || !slices.Equal(got, test.want) {
			t.Errorf("List(%s, %d) = %v, %v, %v; want %v", test.dir, test.depth, got, more, err, test.want)
		}
		dir, err := opened.Open(test.dir)
		if err != nil || !dir.IsDir() {
			t.Fatalf("Open(%s) = %v, %v", test.dir, dir, err)
		}
		if got, more, err := dir.List(test.depth); err != nil || more || !slices.Equal(got, test.want) {
			t.Errorf("%s, once open, lists %v, %v, %v; want %v", test.dir, got, more, err, test.want)
		}
		if _, err := dir.ReadAll(0); err == nil {
			t.Errorf("the directory %s was read as a file", test.dir)
		}
		if err := dir.Close(); err != nil {
			t.Error(err)
		}
	}
	for dir, want := range map[string]contained.Rule{
		"missing": contained.NotFound, "a.txt": contained.NotDirectory, "a.txt/x": contained.NotDirectory,
		"a/.git": contained.NotFound, "a/node_modules/m": contained.NotFound,
	} {
		_, _, err := opened.List(dir, 1)
		filetest.WantRule(t, err, want)
	}
}

// Of more than MaxEntries the first in byte order are listed, whatever order
// the directories give them in.
func TestListBounds(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	var want []string
	for i := range contained.MaxEntries {
		name := fmt.Sprintf("f%04d", i)
		files["over/"+name] = ""
		want = append(want, "over/"+name)
	}
	files["over/g"] = ""
	for i := range 30 {
		for j := range 40 {
			files[fmt.Sprintf("deep/d%02d/f%02d", i, j)] = ""
		}
	}
	dir := filetest.Plant(t, files)
	opened := filetest.Open(t, dir, contained.Options{})
	got, more, err := opened.List("over", 1)
	if err != nil || !more || !slices.Equal(paths(got), want) {
		t.Errorf("List(over) gives %d entries, %v, %v", len(got), more, err)
	}
	if err := os.Remove(filepath.Join(dir, "over/g")); err != nil {
		t.Fatal(err)
	}
	if got, more, err := opened.List("over", 2); err != nil || more || !slices.Equal(paths(got), want) {
		t.Errorf("List of as many as there may be gives %d entries, %v, %v", len(got), more, err)
	}
	got, more, err = opened.List("deep", 2)
	if err != nil || !more || len(got) != contained.MaxEntries || !slices.IsSorted(paths(got)) {
		t.Errorf("List(deep) gives %d entries, %v, %v", len(got), more, err)
	}
	// 24 whole directories with their 40 files, and 16 lines of the next.
	if last := got[len(got)-1].Path; last != "deep/d24/f14" {
		t.Errorf("the last entry is %s", last)
	}
}

func TestListDeepPaths(t *testing.T) {
	t.Parallel()
	deepest := strings.Repeat("d/", 63) + "file"
	opened := filetest.Open(t, filetest.Plant(t, map[string]string{deepest: "x", strings.Repeat("e/", 64) + "beyond": "x"}), contained.Options{})
	got, more, err := opened.List(".", 1000)
	if err != nil || more {
		t.Fatal(err, more)
	}
	listed := paths(got)
	if !slices.Contains(listed, deepest) {
		t.Error("a file 64 segments deep is not listed")
	}
	for _, path := range listed {
		if strings.HasSuffix(path, "beyond") {
			t.Error("a file 65 segments deep is listed")
		}
	}
	if _, err := filetest.Read(opened, deepest, contained.Range{}); err != nil {
		t.Error(err)
	}
}

// A file SKILL.md that is not the entry document has no URI: its would be
// that of the entry document.
func TestListShadowedDocument(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"GUIDE.md": "guide", "SKILL.md": "other", "sub/SKILL.md": "nested"})
	opened := filetest.Open(t, dir, contained.Options{Entry: "GUIDE.md"})
	got, _, err := opened.List(".", 2)
	if want := []string{"GUIDE.md", "sub", "sub/SKILL.md"}; err != nil || !slices.Equal(paths(got), want) {
		t.Errorf("List = %v, %v", paths(got), err)
	}
	if content, err := filetest.Read(opened, "SKILL.md", contained.Range{}); err != nil || string(content.Data) != "guide" {
		t.Errorf("Read(SKILL.md) = %q, %v", content.Data, err)
	}
}

func paths(entries []contained.Entry) []string {
	var list []string
	for _, entry := range entries {
		list = append(list, entry.Path)
	}
	return list
}
