package contained_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/filetest"
)

// written opens a directory as one that programs write to.
func written(t testing.TB, dir string) *contained.Dir {
	t.Helper()
	return filetest.Open(t, dir, contained.Options{Untrusted: true})
}

func content(t testing.TB, host string) string {
	t.Helper()
	data, err := os.ReadFile(host)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// leftBehind are names of files that are not whole, which must not stay.
func leftBehind(t testing.TB, dir string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".skills-mcp-") {
			found = append(found, entry.Name())
		}
	}
	return found
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"old.txt": "old", "made/": ""})
	opened := written(t, dir)
	for _, c := range []struct {
		name    string
		created bool
	}{{"new.txt", true}, {"old.txt", false}, {"made/x.txt", true}, {"a/b/c/./d.txt", true}, {"a/b/c/d.txt", false}, {"größe 日本.txt", true}} {
		created, err := opened.Write(c.name, []byte("text of "+c.name))
		if err != nil || created != c.created {
			t.Errorf("Write(%q) = %v, %v; want %v", c.name, created, err, c.created)
			continue
		}
		if got := content(t, filepath.Join(dir, c.name)); got != "text of "+c.name {
			t.Errorf("%s holds %q", c.name, got)
		}
	}
	if left := leftBehind(t, dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"file": "file", "dir/": ""})
	opened := written(t, dir)
	for name, want := range map[string]contained.Rule{
		"":                                contained.Invalid,
		"a\x00b":                          contained.Invalid,
		`a\b`:                             contained.Invalid,
		strings.Repeat("x", 5000):         contained.Invalid,
		strings.Repeat("x", 300):          contained.Invalid,
		strings.Repeat("d/", 70):          contained.Invalid,
		"/etc/passwd":                     contained.Absolute,
		"C:/x":                            contained.Absolute,
		"../x":                            contained.Traversal,
		"dir/../x":                        contained.Traversal,
		".":                               contained.IsDirectory,
		"dir":                             contained.IsDirectory,
		"dir/":                            contained.IsDirectory,
		"file/x":                          contained.NotDirectory,
		"file/x/" + "y":                   contained.NotDirectory,
		"dir/" + strings.Repeat("y", 300): contained.Invalid,
	} {
		_, err := opened.Write(name, []byte("new"))
		filetest.WantRule(t, err, want)
		if err := opened.Edit(name, 100, nil); err == nil {
			t.Errorf("Edit(%.20q) is taken", name)
		}
	}
	if got := content(t, filepath.Join(dir, "file")); got != "file" {
		t.Errorf("file holds %q", got)
	}
	_, err := filetest.Open(t, dir, contained.Options{}).Write("new", nil)
	filetest.WantRule(t, err, contained.Denied) // it may be a skill's
	if _, err := os.Lstat(filepath.Join(dir, "new")); err == nil {
		t.Error("a skill was written to")
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"sub/file": "old text", "large": strings.Repeat("x", 101)})
	opened := written(t, dir)
	upper := func(data []byte) ([]byte, error) { return bytes.ToUpper(data), nil }
	if err := opened.Edit("sub/file", 8, upper); err != nil {
		t.Fatal(err)
	}
	if got := content(t, filepath.Join(dir, "sub/file")); got != "OLD TEXT" {
		t.Errorf("the file holds %q", got)
	}
	refusal := errors.New("not this one")
	err := opened.Edit("sub/file", 8, func([]byte) ([]byte, error) { return []byte("lost"), refusal })
	if !errors.Is(err, refusal) || content(t, filepath.Join(dir, "sub/file")) != "OLD TEXT" {
		t.Errorf("a change that failed gives %v, and was made", err)
	}
	filetest.WantRule(t, opened.Edit("large", 100, upper), contained.TooLarge)
	filetest.WantRule(t, opened.Edit("none", 100, upper), contained.NotFound)
	filetest.WantRule(t, opened.Edit("none/none", 100, upper), contained.NotFound)
	filetest.WantRule(t, opened.Edit("sub", 100, upper), contained.IsDirectory)
	if _, err := os.Lstat(filepath.Join(dir, "none")); err == nil {
		t.Error("an edit made a directory")
	}
	if left := append(leftBehind(t, dir), leftBehind(t, filepath.Join(dir, "sub"))...); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// A file that changes while it is edited is edited as it is then, and not set
// back to what it was.
func TestEditMeetsChange(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"log": "1"})
	opened := written(t, dir)
	tries := 0
	err := opened.Edit("log", 100, func(data []byte) ([]byte, error) {
		if tries++; tries == 1 {
			testfiles.Write(t, filepath.Join(dir, "log"), "1 and 2")
		}
		return append(data, " edited"...), nil
	})
	if got := content(t, filepath.Join(dir, "log")); err != nil || got != "1 and 2 edited" {
		t.Errorf("after %d tries: %q, %v", tries, got, err)
	}
	err = opened.Edit("log", 1000, func(data []byte) ([]byte, error) {
		testfiles.Write(t, filepath.Join(dir, "log"), string(data)+"+")
		return []byte("mine"), nil
	})
	filetest.WantRule(t, err, contained.Unreadable)
	if got := content(t, filepath.Join(dir, "log")); !strings.HasPrefix(got, "1 and 2 edited+") {
		t.Errorf("a file that never rests was overwritten with %q", got)
	}
}

// Readers see the old text or the new one, whole.
func TestWriteIsAtomic(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"file": strings.Repeat("a", 1<<20)})
	opened := written(t, dir)
	done := make(chan error, 1)
	go func() {
		defer close(done)
		for i := range 50 {
			if _, err := opened.Write("file", bytes.Repeat([]byte{byte('a' + i%26)}, 1<<20)); err != nil {
				done <- err
				return
			}
		}
	}()
	for reading := true; reading; {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			reading = false
		default:
		}
		if text := content(t, filepath.Join(dir, "file")); len(text) != 1<<20 || strings.Count(text, text[:1]) != len(text) {
			t.Fatalf("%d bytes, not all of them %q", len(text), text[:1])
		}
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"file": "1", "dir/sub/deep": "1", "dir/other": "1", ".private/x": "1"})
	opened := filetest.Open(t, dir, contained.Options{Untrusted: true, Hidden: ".private"})
	paths := []string{"file", "none", "dir", "dir/sub", "dir/sub/deep", ".", "../out"}
	states := map[string]string{}
	look := func() (changed []string) {
		for _, path := range paths {
			if state := opened.State(path); state != states[path] {
				states[path] = state
				changed = append(changed, path)
			}
		}
		return changed
	}
	look()
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return nil }, ""},
		{func() error { testfiles.Write(t, filepath.Join(dir, "file"), "22"); return nil }, "file ."},
		{func() error { testfiles.Write(t, filepath.Join(dir, "none"), ""); return nil }, "none ."},
		{func() error { testfiles.Write(t, filepath.Join(dir, "dir/sub/deep"), "22"); return nil }, "dir dir/sub dir/sub/deep ."},
		{func() error { return os.Remove(filepath.Join(dir, "dir/sub/deep")) }, "dir dir/sub dir/sub/deep ."},
		{func() error { return os.RemoveAll(filepath.Join(dir, "dir")) }, "dir dir/sub ."},
		{func() error { return os.Remove(filepath.Join(dir, "none")) }, "none ."},
		{func() error { testfiles.Write(t, filepath.Join(dir, ".private/y"), ""); return nil }, ""},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(look(), " "); got != step.want {
			t.Errorf("changed: %q, want %q", got, step.want)
		}
	}
}
