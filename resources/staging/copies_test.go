package staging_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/resources/internal/filetest"
	"github.com/skills-mcp/skills-mcp/resources/staging"
)

// newCopies makes copies that end with the test, and returns their directory.
func newCopies(t testing.TB, log io.Writer) (*staging.Copies, string) {
	t.Helper()
	base := t.TempDir()
	copies, err := staging.New(base, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := copies.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
			t.Errorf("after Close there is %v, %v", left, err)
		}
	})
	return copies, base
}

// take takes a copy, which is released with the test if not before.
func take(t testing.TB, copies *staging.Copies, skill string) *staging.Copy {
	t.Helper()
	made, err := copies.Take(t.Context(), skill)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Release)
	return made
}

// copied returns the versions that lie in the directory of copies.
func copied(t testing.TB, base string) (found []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(base, "*", "*", "planted"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// awaitCopied waits until so many versions are left.
func awaitCopied(t *testing.T, base string, want int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); len(copied(t, base)) != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("there are %q, want %d", copied(t, base), want)
		}
	}
}

// copyDigest is the digest of a directory as the documentation of Copy has it,
// of names that need no encoding.
func copyDigest(t testing.TB, dir string) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(host string, entry fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(dir, host)
		if err = errors.Join(err, relErr); err != nil || name == "." {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case info.IsDir():
			lines = append(lines, name+" d ")
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(host)
			lines = append(lines, name+" l "+target)
			return err
		default:
			content, err := os.ReadFile(host)
			kind := "f"
			if info.Mode()&0o100 != 0 {
				kind = "x"
			}
			lines = append(lines, fmt.Sprintf("%s %s %x", name, kind, sha256.Sum256(content)))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// listed returns the paths below a directory.
func listed(t testing.TB, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, _ fs.DirEntry, err error) error {
		if name != "." {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestCopyHoldsWhatRuns(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{
		"SKILL.md":                    filetest.EntryDocument("planted"),
		"scripts/run.sh":              "#!/bin/sh\n",
		"assets/empty/":               "",
		"nested/SKILL.md":             filetest.EntryDocument("nested"),
		"node_modules/pad/index.js":   "module.exports = 1",
		"node_modules/.bin/note":      "",
		"scripts/__pycache__/run.pyc": "pyc",
		".git/config":                 "git",
		"SKILL.md~":                   "backup",
	})
	if err := os.Chmod(filepath.Join(dir, "scripts/run.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	copies, _ := newCopies(t, io.Discard)
	made := take(t, copies, dir)
	want := []string{
		"SKILL.md", "assets", "assets/empty", "nested", "nested/SKILL.md", "node_modules", "node_modules/.bin", "node_modules/.bin/note",
		"node_modules/pad", "node_modules/pad/index.js", "scripts", "scripts/run.sh",
	}
	if got := listed(t, made.Dir); !slices.Equal(got, want) {
		t.Errorf("the copy holds %q, want %q", got, want)
	}
	if filepath.Base(made.Dir) != "planted" || made.Digest != copyDigest(t, made.Dir) {
		t.Errorf("%s has the digest %s, want %s", made.Dir, made.Digest, copyDigest(t, made.Dir))
	}
	if runtime.GOOS == "windows" {
		return
	}
	for name, want := range map[string]fs.FileMode{".": 0o555, "assets/empty": 0o555, "SKILL.md": 0o444, "scripts/run.sh": 0o555, "..": 0o700, "../..": 0o700} {
		if info, err := os.Stat(filepath.Join(made.Dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want mode %v", name, info, err, want)
		}
	}
}

// Every difference that a program could see is another digest.
func TestCopyDigests(t *testing.T) {
	t.Parallel()
	files := map[string]string{"SKILL.md": filetest.EntryDocument("planted"), "scripts/run.sh": "1", "node_modules/x/y.js": "1"}
	changes := map[string]func(dir string) error{
		"nothing": func(string) error { return nil },
		"content": func(dir string) error { return os.WriteFile(filepath.Join(dir, "scripts/run.sh"), []byte("2"), 0o644) },
		"a name": func(dir string) error {
			return os.Rename(filepath.Join(dir, "scripts/run.sh"), filepath.Join(dir, "scripts/ruN.sh"))
		},
		"a package": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "node_modules/x/y.js"), []byte("2"), 0o644)
		},
		"a file":      func(dir string) error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o644) },
		"no file":     func(dir string) error { return os.Remove(filepath.Join(dir, "scripts/run.sh")) },
		"a directory": func(dir string) error { return os.Mkdir(filepath.Join(dir, "new"), 0o755) },
	}
	if runtime.GOOS != "windows" {
		changes["the executable bit"] = func(dir string) error { return os.Chmod(filepath.Join(dir, "scripts/run.sh"), 0o755) }
	}
	copies, _ := newCopies(t, io.Discard)
	seen := map[string]string{}
	for name, change := range changes {
		dir := filetest.Plant(t, files)
		before := take(t, copies, dir)
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		after := take(t, copies, dir)
		if other, known := seen[after.Digest]; known {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[after.Digest] = name
		if (before.Digest != after.Digest) != (name != "nothing") || (before.Dir != after.Dir) != (name != "nothing") {
			t.Errorf("%s: %+v became %+v", name, before, after)
		}
		if after.Digest != copyDigest(t, after.Dir) {
			t.Errorf("%s: the digest is not that of the copy", name)
		}
	}
}

// A copy stays as it is while it is held, and goes when it is not the newest.
func TestCopyStaysWhileItIsHeld(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"SKILL.md": "1"})
	copies, base := newCopies(t, io.Discard)
	first := take(t, copies, dir)
	testfiles.Write(t, filepath.Join(dir, "SKILL.md"), "2")
	second := take(t, copies, dir)
	for made, want := range map[*staging.Copy]string{first: "1", second: "2"} {
		if got, err := os.ReadFile(filepath.Join(made.Dir, "SKILL.md")); string(got) != want {
			t.Errorf("a copy reads %q, %v, want %q", got, err, want)
		}
	}
	first.Release()
	first.Release()
	awaitCopied(t, base, 1)
	second.Release()
	if third := take(t, copies, dir); third.Dir != second.Dir {
		t.Errorf("the newest copy was not kept: %s, %s", third.Dir, second.Dir)
	}
}

func TestIdleCopiesAreBounded(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]struct {
		copies int
		bytes  int64
	}{"by number": {2, 2 << 30}, "by size": {64, 2000}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			copies, base := newCopies(t, io.Discard)
			copies.LimitIdle(limit.copies, limit.bytes)
			var held []*staging.Copy
			for range 4 {
				held = append(held, take(t, copies, filetest.Plant(t, map[string]string{"SKILL.md": strings.Repeat("x", 1000)})))
			}
			if got := len(copied(t, base)); got != 4 {
				t.Errorf("of 4 copies in use there are %d", got)
			}
			for _, made := range held {
				made.Release()
			}
			awaitCopied(t, base, 2)
			for i, made := range held {
				if _, err := os.Stat(made.Dir); (err == nil) != (i >= 2) {
					t.Errorf("copy %d: %v", i, err)
				}
			}
		})
	}
}

// All who run one version share one copy of it.
func TestOneCopyOfAVersion(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"SKILL.md": "1", "a/b": "2"})
	copies, base := newCopies(t, io.Discard)
	first := take(t, copies, dir)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			made, err := copies.Take(t.Context(), dir)
			if err != nil || made.Dir != first.Dir {
				t.Errorf("another copy: %v, %v", made, err)
				return
			}
			made.Release()
		})
	}
	wait.Wait()
	if got := copied(t, base); len(got) != 1 {
		t.Errorf("there are %q", got)
	}
}
