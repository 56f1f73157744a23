package catalog_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// plantSkills makes skills with two directories each.
func plantSkills(t *testing.T, names ...string) (root string) {
	t.Helper()
	files := map[string]string{}
	for _, name := range names {
		files[name+"/SKILL.md"] = skillText(name, "one")
		files[name+"/references/r.md"] = name
		files[name+"/scripts/s.sh"] = name
	}
	return plant(t, files)
}

func script(t *testing.T, root string, steps ...[]string) {
	t.Helper()
	for _, step := range steps {
		if step[0] == "rm" {
			check(t, os.RemoveAll(filepath.Join(root, step[1])))
		} else {
			check(t, os.Rename(filepath.Join(root, step[1]), filepath.Join(root, step[2])))
		}
	}
}

// everywhere writes a file in every directory of every skill below root and
// waits until each was told of.
func (f *follower) everywhere(root string) {
	f.t.Helper()
	f.rounds++
	waiting := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || !f.inSkill(path) {
			return err
		}
		file := filepath.Join(path, "edit.txt")
		waiting[file] = true
		return os.WriteFile(file, fmt.Appendln(nil, f.rounds), 0o644)
	})
	check(f.t, err)
	f.until(fmt.Sprintf("edits of %d directories", len(waiting)), func(c catalog.Change) bool {
		for _, path := range c.Files {
			delete(waiting, path)
		}
		return len(waiting) == 0
	})
}

func (f *follower) inSkill(path string) bool {
	return slices.ContainsFunc(f.catalog.Snapshot().Skills(), func(s *catalog.Skill) bool {
		return strings.HasPrefix(path+"/", s.Dir+"/")
	})
}

// eachSource runs a test with the watches of this system, and with those of
// the others. It does not run in parallel.
func eachSource(t *testing.T, test func(t *testing.T)) {
	t.Run("system", test)
	t.Run("library", func(t *testing.T) {
		t.Cleanup(catalog.WatchByLibrary())
		test(t)
	})
}

// TestWatchMovedDirectories moves watched directories to paths at which
// others were watched. A step is made at once, and followed by a look.
func TestWatchMovedDirectories(t *testing.T) {
	for name, steps := range map[string][][][]string{
		"replaced, both removed": {
			{{"mv", "a", "a.old"}, {"mv", "b", "a"}},
			{{"rm", "a"}, {"rm", "a.old"}},
		},
		"swapped, both removed": {
			{{"mv", "a", "x"}, {"mv", "b", "a"}, {"mv", "x", "b"}},
			{{"rm", "a"}, {"rm", "b"}},
		},
		"swapped, both moved": {
			{{"mv", "a", "x"}, {"mv", "b", "a"}, {"mv", "x", "b"}},
			{{"mv", "a", "d"}, {"mv", "b", "e"}},
			{{"mv", "d", "b"}, {"mv", "e", "a"}},
		},
		"moved in a row": {
			{{"mv", "a", "d"}, {"mv", "b", "a"}, {"mv", "c", "b"}},
			{{"mv", "d", "c"}},
		},
		"parts swapped": {
			{{"mv", "a/references", "x"}, {"mv", "b/references", "a/references"}, {"mv", "x", "b/references"}},
			{{"rm", "a/references"}, {"mv", "b/scripts", "a/references"}},
		},
		"there and back": {
			{{"mv", "a", "x"}, {"mv", "x", "a"}},
			{{"mv", "a", "x"}, {"mv", "b", "a"}, {"mv", "a", "b"}, {"mv", "x", "a"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachSource(t, func(t *testing.T) {
				root := plantSkills(t, "a", "b", "c")
				f := follow(t, roots(root))
				f.watching(root)
				for _, step := range steps {
					script(t, root, step...)
					f.watching(root)
					f.everywhere(root)
				}
			})
		})
	}
}

// TestWatchIsReplaced: a source of events that fails costs nothing.
func TestWatchIsReplaced(t *testing.T) {
	eachSource(t, func(t *testing.T) {
		root := plantSkills(t, "a", "b")
		f := follow(t, roots(root))
		f.watching(root)
		for range 3 {
			catalog.FailWatch(f.catalog)
			f.everywhere(root)
		}
	})
}

// TestWatchSoak makes operations on directories at random, as fast as it can,
// while scans run. In the end the catalog must be what it is when opened again, and
// an edit anywhere must be told.
func TestWatchSoak(t *testing.T) {
	operations, fewer := testenv.Rounds(t, 6_000, 50_000), testenv.Rounds(t, 3_000, 5_000)
	if testing.Short() {
		operations, fewer = 1_500, 1_500
	}
	eachSource(t, func(t *testing.T) {
		defer func() { operations = fewer }() // the library's are not this system's own
		root := plantSkills(t, "s0", "s1", "s2", "s3")
		f := follow(t, roots(root))
		f.watching(root)
		rescans, done := make(chan struct{}, 1), make(chan struct{})
		go func() {
			defer close(done)
			for range rescans {
				_, _ = f.catalog.Rescan(t.Context())
			}
		}()
		s := soak{root, rand.New(rand.NewPCG(1, 2))}
		for i := range operations {
			s.step()
			if i%50 == 0 {
				rescans <- struct{}{}
			}
		}
		close(rescans)
		<-done
		f.settled(root)
		f.everywhere(root)
	})
}

// settled waits until the catalog is what it is when opened again.
func (f *follower) settled(root string) {
	f.t.Helper()
	options := cmp.Options{cmp.AllowUnexported(), cmpopts.IgnoreUnexported(catalog.Skill{}), cmpopts.EquateEmpty()}
	fresh := openDirs(f.t, root).Snapshot()
	var diff string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		now := f.catalog.Snapshot()
		diff = cmp.Diff(fresh.Skills(), now.Skills(), options) + cmp.Diff(fresh.Problems(), now.Problems(), options)
		if diff == "" {
			return
		}
		select {
		case <-f.changes:
		case <-time.After(10 * time.Millisecond):
		}
	}
	f.t.Fatalf("the catalog is not what it is opened anew (-want +got):\n%s", diff)
}

// soak makes random operations in a directory of skills. Those that cannot be
// done, since something is or is not there, are none.
type soak struct {
	root   string
	random *rand.Rand
}

func (s soak) step() {
	a, b := s.dir(), s.dir()
	switch n := s.random.IntN(20); {
	case n < 5:
		_ = os.Rename(a, b)
	case n < 10:
		s.swap(a, b)
	case n < 12:
		_ = os.RemoveAll(a)
	case n < 15:
		_ = os.MkdirAll(a, 0o755)
	case n < 18:
		_ = os.WriteFile(filepath.Join(a, "x.txt"), fmt.Append(nil, n, a), 0o644)
	default:
		name := fmt.Sprintf("s%d", s.random.IntN(8))
		_ = os.WriteFile(filepath.Join(a, "SKILL.md"), []byte(skillText(name, fmt.Sprint(s.random.Int()))), 0o644)
	}
}

// dir is a path of few, so that operations meet: a skill's, a group's, or that
// of a directory in one.
func (s soak) dir() string {
	path := filepath.Join(s.root, fmt.Sprintf("s%d", s.random.IntN(8)))
	for _, names := range [][]string{{"s0", "s1", "references", "scripts"}, {"deep", "references"}} {
		if s.random.IntN(2) == 0 {
			path = filepath.Join(path, names[s.random.IntN(len(names))])
		}
	}
	return path
}

func (s soak) swap(a, b string) {
	aside := filepath.Join(s.root, "aside")
	if os.Rename(a, aside) != nil {
		return
	}
	if os.Rename(b, a) != nil || os.Rename(aside, b) != nil {
		_ = os.RemoveAll(aside)
	}
}
