package staging_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/resources/internal/filetest"
	"github.com/skills-mcp/skills-mcp/resources/staging"
)

// plantSkills writes skills below a root, each with an entry document, and returns
// what finds them.
func plantSkills(t testing.TB, files map[string]string) (root string, found *catalog.Catalog) {
	t.Helper()
	root = t.TempDir()
	for name := range files {
		skill, _, _ := strings.Cut(name, "/")
		testfiles.Write(t, filepath.Join(root, skill, "SKILL.md"), filetest.EntryDocument(skill))
	}
	testfiles.Fill(t, root, files)
	found, err := catalog.Open(t.Context(), catalog.Options{Roots: []catalog.Root{{Path: root}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { found.Close() })
	return root, found
}

// library takes a library of all skills there are, which is released with the test
// if not before.
func library(t testing.TB, copies *staging.Copies, found *catalog.Catalog) *staging.Library {
	t.Helper()
	made, err := copies.TakeLibrary(t.Context(), found.Snapshot().Skills())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Release)
	return made
}

func rescan(t *testing.T, found *catalog.Catalog) {
	t.Helper()
	if _, err := found.Rescan(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, made *staging.Library, name, want string) {
	t.Helper()
	if got, err := os.ReadFile(filepath.Join(made.Dir, filepath.FromSlash(name))); want == "" && err == nil || string(got) != want {
		t.Errorf("%s reads %q, %v, want %q", name, got, err, want)
	}
}

// awaitGone waits until a directory was removed.
func awaitGone(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is still there", dir)
		}
	}
}

func TestLibraryHoldsWhatRuns(t *testing.T) {
	t.Parallel()
	root, found := plantSkills(t, map[string]string{"one/scripts/run.sh": "1", "one/.env": "SECRET=1", "two/deep/er/file": "2"})
	copies, _ := newCopies(t, io.Discard)
	copies.Withheld = func(dir string) func(string) bool {
		return func(path string) bool { return filepath.Dir(dir) == root && path == ".env" }
	}
	if runtime.GOOS != "windows" {
		for name, target := range map[string]string{"in": "scripts/run.sh", "out": "../two/deep", "absolute": filepath.Join(root, "two")} {
			if err := os.Symlink(target, filepath.Join(root, "one", name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	made := library(t, copies, found)
	want := []string{"one", "one/SKILL.md", "one/in", "one/scripts", "one/scripts/run.sh", "two", "two/SKILL.md", "two/deep", "two/deep/er", "two/deep/er/file"}
	if got := listed(t, made.Dir); runtime.GOOS != "windows" && !slices.Equal(got, want) {
		t.Errorf("the library holds %q, want %q", got, want)
	}
	if made.Skills != 2 || len(made.LeftOut) > 0 || !strings.HasPrefix(made.Digest, "sha256:") {
		t.Errorf("the library is %+v", made)
	}
	wantFile(t, made, "one/scripts/run.sh", "1")
	if runtime.GOOS == "windows" {
		return
	}
	for name, want := range map[string]fs.FileMode{"one/SKILL.md": 0o444, "two/deep": 0o555, "one": 0o555, ".": 0o555} {
		if info, err := os.Stat(filepath.Join(made.Dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want mode %v", name, info, err, want)
		}
	}
}

// Each library is one version, which stays while it is held, whether the next one
// takes over its files or not.
func TestLibraryFollowsTheSkills(t *testing.T) {
	t.Parallel()
	for name, held := range map[string]bool{"held": true, "not held": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, found := plantSkills(t, map[string]string{"one/a/file": "1", "two/file": "2", "three/file": "3"})
			copies, _ := newCopies(t, io.Discard)
			first := library(t, copies, found)
			again := library(t, copies, found)
			if again.Dir != first.Dir || again.Digest != first.Digest {
				t.Errorf("nothing changed, and %s became %s", first.Dir, again.Dir)
			}
			testfiles.Write(t, filepath.Join(root, "two/file"), "2") // with another time
			if again := library(t, copies, found); again.Dir != first.Dir {
				t.Errorf("the times changed, and %s became %s", first.Dir, again.Dir)
			}
			if !held {
				for range 3 {
					first.Release()
				}
				again.Release()
			}
			testfiles.Write(t, filepath.Join(root, "two/file"), "changed")
			testfiles.Write(t, filepath.Join(root, "four/SKILL.md"), filetest.EntryDocument("four"))
			if err := os.Rename(filepath.Join(root, "three"), filepath.Join(t.TempDir(), "three")); err != nil {
				t.Fatal(err)
			}
			rescan(t, found)
			second := library(t, copies, found)
			if second.Dir == first.Dir || second.Digest == first.Digest || second.Skills != 3 {
				t.Errorf("%+v became %+v", first, second)
			}
			for name, want := range map[string]string{"one/a/file": "1", "two/file": "changed", "three/file": "", "four/SKILL.md": filetest.EntryDocument("four")} {
				wantFile(t, second, name, want)
			}
			if held {
				for name, want := range map[string]string{"one/a/file": "1", "two/file": "2", "three/file": "3", "four/SKILL.md": ""} {
					wantFile(t, first, name, want)
				}
			}
		})
	}
}

// A library goes when it is not the newest, and nothing holds it.
func TestLibraryIsRemoved(t *testing.T) {
	t.Parallel()
	root, found := plantSkills(t, map[string]string{"one/file": "1", "two/file": "2"})
	copies, base := newCopies(t, io.Discard)
	previous := library(t, copies, found)
	for i := range 4 {
		testfiles.Write(t, filepath.Join(root, "one/file"), strconv.Itoa(i))
		if i%2 == 0 { // one that nothing holds gives its files to the next
			previous.Release()
		}
		next := library(t, copies, found)
		wantFile(t, next, "one/file", strconv.Itoa(i))
		wantFile(t, next, "two/file", "2")
		previous.Release()
		awaitGone(t, previous.Dir)
		previous = next
	}
	if left, err := filepath.Glob(filepath.Join(base, "*", "*")); err != nil || len(left) != 1 {
		t.Errorf("there is %q, %v", left, err)
	}
}

func TestLibraryLeavesOut(t *testing.T) {
	t.Parallel()
	root, found := plantSkills(t, map[string]string{"fine/file": "", "gone/file": "", "huge/file": "", "stale/file": "", "wide/a": "", "wide/b": "", "wide/c": ""})
	if err := os.Truncate(filepath.Join(root, "huge/file"), 2<<30); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(root, "gone")); err != nil {
		t.Fatal(err)
	}
	testfiles.Write(t, filepath.Join(root, "stale/SKILL.md"), filetest.EntryDocument("another")) // than that whose permissions are known
	copies, _ := newCopies(t, io.Discard)
	copies.LimitLibrary(8, 1000)
	made := library(t, copies, found)
	reasons := map[string]string{}
	for _, left := range made.LeftOut {
		reasons[left.Name] = left.Reason
	}
	want := map[string]string{"gone": "is gone from disk", "huge": "is too large", "stale": "is being changed", "wide": "would be beyond 8 files or 1000 bytes with the others"}
	if !maps.Equal(reasons, want) || made.Skills != 1 {
		t.Errorf("%d skills, left out are %q, want %q", made.Skills, reasons, want)
	}
	if got := listed(t, made.Dir); !slices.Equal(got, []string{"fine", "fine/SKILL.md", "fine/file"}) {
		t.Errorf("the library holds %q", got)
	}
	if again := library(t, copies, found); again.Dir != made.Dir || len(again.LeftOut) != len(made.LeftOut) {
		t.Errorf("%+v became %+v", made, again)
	}
}

// What was removed from the directory for temporary files is there again.
func TestSpoiltLibraryIsMadeAgain(t *testing.T) {
	t.Parallel()
	_, found := plantSkills(t, map[string]string{"one/file": "1", "two/file": "2"})
	copies, _ := newCopies(t, io.Discard)
	for _, lost := range []string{"one/file", "two", "."} {
		made := library(t, copies, found)
		for _, dir := range []string{".", "one", "two"} {
			if err := os.Chmod(filepath.Join(made.Dir, dir), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.RemoveAll(filepath.Join(made.Dir, lost)); err != nil {
			t.Fatal(err)
		}
		again := library(t, copies, found)
		wantFile(t, again, "one/file", "1")
		wantFile(t, again, "two/file", "2")
	}
}

func TestLibrariesAtOnce(t *testing.T) {
	t.Parallel()
	root, found := plantSkills(t, map[string]string{"one/file": "0", "two/file": "2", "three/file": "3"})
	copies, _ := newCopies(t, io.Discard)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 10 {
				made, err := copies.TakeLibrary(t.Context(), found.Snapshot().Skills())
				if err != nil {
					t.Error(err)
					return
				}
				one, err := os.ReadFile(filepath.Join(made.Dir, "one/file"))
				two, otherErr := os.ReadFile(filepath.Join(made.Dir, "two/file"))
				if err := errors.Join(err, otherErr); made.Skills == 3 && (err != nil || string(two) != "2") {
					t.Errorf("%q, %q, %v", one, two, err)
				}
				made.Release()
			}
		})
	}
	for i := range 10 {
		testfiles.Write(t, filepath.Join(root, "one/file"), strconv.Itoa(i))
	}
	wait.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := copies.TakeLibrary(ctx, found.Snapshot().Skills()); !errors.Is(err, context.Canceled) {
		t.Errorf("when none waits any more: %v", err)
	}
}

// BenchmarkLibrary takes libraries of which nothing changed, or one skill.
func BenchmarkLibrary(b *testing.B) {
	for _, count := range []int{10, 1000} {
		files := map[string]string{}
		for i := range count {
			skill := "skill-" + strconv.Itoa(i)
			for _, name := range []string{"/scripts/a.py", "/scripts/b.sh", "/references/c.md", "/references/d.md", "/assets/e.json"} {
				files[skill+name] = strings.Repeat("x", 2000)
			}
		}
		root, found := plantSkills(b, files)
		copies, _ := newCopies(b, io.Discard)
		time.Sleep(filestat.SettleTime) // else what was just written could change unseen
		library(b, copies, found).Release()
		for name, change := range map[string]bool{"unchanged": false, "one changed": true} {
			b.Run(strconv.Itoa(count)+"/"+name, func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					if change {
						testfiles.Write(b, filepath.Join(root, "skill-0/scripts/a.py"), strconv.Itoa(i))
					}
					made, err := copies.TakeLibrary(b.Context(), found.Snapshot().Skills())
					if err != nil || made.Skills != count {
						b.Fatal(made, err)
					}
					made.Release()
				}
			})
		}
	}
}
