package catalog_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog"
)

// TestWatchTellsOfContents: what is told is what came, went or has another
// content, however it was saved.
func TestWatchTellsOfContents(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 1<<20+1)
	root := plant(t, map[string]string{
		"a/SKILL.md": skillText("a", "one"), "a/large.txt": large,
		"a/one.txt": "1", "a/two.txt": "2", "a/dir/three.txt": "3", "a/dir/deep/four.txt": "4",
	})
	f := follow(t, roots(root))
	f.watching(root)
	at := func(name string) string { return filepath.Join(root, "a", name) }
	save := func(name, text string) { save(t, at(name), text) }
	for _, test := range []struct {
		name string
		act  func()
		want []string
	}{
		{"saved as they were", func() {
			overwrite(t, at("one.txt"), "1")
			save("two.txt", "2")
			save("SKILL.md", skillText("a", "one"))
			check(t, os.Chtimes(at("dir/three.txt"), time.Now(), time.Unix(1, 0)))
		}, nil},
		{"another content of the same size", func() {
			overwrite(t, at("one.txt"), "9")
			save("two.txt", "9")
		}, []string{"one.txt", "two.txt"}},
		{"too large to be compared", func() { overwrite(t, at("large.txt"), large) }, []string{"large.txt"}},
		{"came", func() { check(t, os.Mkdir(at("empty"), 0o755)) }, []string{"empty"}},
		{"moved, with what is in it", func() { check(t, os.Rename(at("dir"), at("empty/dir"))) }, []string{
			"dir", "dir/deep", "dir/deep/four.txt", "dir/three.txt",
			"empty/dir", "empty/dir/deep", "empty/dir/deep/four.txt", "empty/dir/three.txt",
		}},
		{"edited where it is now", func() { write(t, at("empty/dir/deep/four.txt"), "x") }, []string{"empty/dir/deep/four.txt"}},
		{"a file for a directory", func() {
			check(t, os.RemoveAll(at("empty/dir/deep")))
			write(t, at("empty/dir/deep"), "x")
		}, []string{"empty/dir/deep", "empty/dir/deep/four.txt"}},
	} {
		test.act()
		if got := f.told(root, at("")); !slices.Equal(got, test.want) {
			t.Errorf("%s: told of %q, want %q", test.name, got, test.want)
		}
	}
}

// save puts a file in another's place.
func save(t *testing.T, path, text string) {
	t.Helper()
	aside := filepath.Join(t.TempDir(), "x")
	write(t, aside, text)
	check(t, os.Rename(aside, path))
}

// overwrite writes without making the file empty first, which would be a
// content of its own.
func overwrite(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	check(t, err)
	_, err = file.WriteString(text)
	check(t, err)
	check(t, file.Close())
}

// told returns what was told of a directory's files by the time that a later
// change was told.
func (f *follower) told(root, dir string) (names []string) {
	f.t.Helper()
	f.rounds++
	last := filepath.Join(root, "ready/last.txt")
	write(f.t, last, strings.Repeat("x", f.rounds))
	f.until("the last file", func(c catalog.Change) bool {
		for _, path := range c.Files {
			if name, err := filepath.Rel(dir, path); err == nil && !strings.HasPrefix(name, "..") {
				names = append(names, filepath.ToSlash(name))
			}
		}
		return slices.Contains(c.Files, last)
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// TestWatchPolledContents: where contents are not read before they change, one
// save at most is told of that changes nothing.
func TestWatchPolledContents(t *testing.T) {
	t.Parallel()
	root := plant(t, map[string]string{"a/SKILL.md": skillText("a", "one"), "a/one.txt": "1"})
	opts := roots(root)
	opts.Poll = 20 * time.Millisecond
	f := follow(t, opts)
	f.watching(root)
	path := filepath.Join(root, "a/one.txt")
	save(t, path, "2")
	f.touched(path)
	save(t, path, "2")
	if got := f.told(root, filepath.Dir(path)); got != nil {
		t.Errorf("told of %q", got)
	}
}

// TestWatchLimitIsLogged: who runs the server is told once that not everything
// is watched, and how much.
func TestWatchLimitIsLogged(t *testing.T) {
	t.Cleanup(catalog.NarrowWatch(3, 20*time.Millisecond))
	dir := plantSkills(t, "a", "b")
	var log bytes.Buffer // written by one goroutine, read after that has ended
	opts := roots(dir)
	opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
	t.Run("watch", func(t *testing.T) {
		f := follow(t, opts)
		for range 3 {
			f.watching(dir)
		}
	})
	if text := log.String(); strings.Count(text, "not every directory can be watched") != 1 ||
		!strings.Contains(text, "level=WARN") || !strings.Contains(text, " watched=3 unwatched=") {
		t.Errorf("logged:\n%s", text)
	}
}
