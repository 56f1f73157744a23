package catalog_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// indexed opens a catalog with an index, and closes it.
func indexed(t *testing.T, opts catalog.Options) *catalog.Snapshot {
	t.Helper()
	c, err := catalog.Open(t.Context(), opts)
	check(t, err)
	check(t, c.Close())
	return c.Snapshot()
}

// recalled returns how many skills are what an index says.
func recalled(s *catalog.Snapshot) (n int) {
	for _, skill := range s.Skills() {
		if skill.Unread() {
			n++
		}
	}
	return n
}

// settle opens catalogs until all skills are what the index says: before, files are
// too new for their times to tell whether they changed again.
func settle(t *testing.T, opts catalog.Options) *catalog.Snapshot {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		s := indexed(t, opts)
		switch {
		case len(s.Skills()) > 0 && recalled(s) == len(s.Skills()):
			return s
		case time.Now().After(deadline):
			t.Fatalf("%d of %d skills are in the index", recalled(s), len(s.Skills()))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// indexFile is the only index in a directory.
func indexFile(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	check(t, err)
	if len(found) != 1 {
		t.Fatalf("the indexes are %v", found)
	}
	return found[0]
}

func needsIndex(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere it is not known on which file systems states prove anything")
	}
	t.Parallel()
}

// What is secret is in no index: neither in one that is written, nor any more in one
// from before it was known.
func TestIndexHoldsNoSecret(t *testing.T) {
	needsIndex(t)
	opts := catalog.Options{
		Roots: []catalog.Root{{Path: plant(t, map[string]string{"leaky/SKILL.md": skillText("leaky", "x")})}}, Index: t.TempDir(),
	}
	want := settle(t, opts)
	file := indexFile(t, opts.Index)
	opts.Secret = func(text string) bool { return strings.Contains(text, "leaky") }
	for range 2 {
		got := indexed(t, opts)
		if diff := difference(want, got); diff != "" || recalled(got) != 0 {
			t.Errorf("%d skills are what the index says; -without +with a secret:\n%s", recalled(got), diff)
		}
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			t.Fatalf("the index is there: %v", err)
		}
	}
}

// TestIndexAtRandom makes changes while no catalog is open. What is opened then with
// an index is what is opened without.
func TestIndexAtRandom(t *testing.T) {
	needsIndex(t)
	for seed := range uint64(testenv.Rounds(t, 2, 8)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			a := newAuthor(t, 100+seed)
			for range 60 {
				a.operate()
			}
			a.repair()
			fresh := a.options()
			kept := fresh
			kept.Index = t.TempDir()
			stays := plant(t, map[string]string{"stays/SKILL.md": skillText("stays", "x"), "stays/in/side/SKILL.md": skillText("side", "x")})
			fresh.Roots = append(fresh.Roots, catalog.Root{Path: stays})
			kept.Roots = fresh.Roots
			for recalled(indexed(t, kept)) < 2 {
				time.Sleep(50 * time.Millisecond)
			}
			for range testenv.Rounds(t, 40, 1000) {
				var log []string
				for range 1 + a.random.IntN(4) {
					log = append(log, a.operate())
				}
				got := indexed(t, kept)
				if diff := difference(open(t, fresh).Snapshot(), got); diff != "" {
					t.Fatalf("after %q (-without +with the index):\n%s", log, diff)
				}
				if recalled(got) < 2 {
					t.Fatal("the index was of no use")
				}
			}
		})
	}
}

// TestIndexFollows: whatever becomes of a skill while nothing is open is seen.
func TestIndexFollows(t *testing.T) {
	needsIndex(t)
	files := map[string]string{"outside/SKILL.md": skillText("outside", "x")}
	for _, name := range []string{"kept", "saved", "broken", "swapped", "gone", "linked", "moved", "tooled"} {
		files["root/"+name+"/SKILL.md"] = skillText(name, "old")
	}
	base := plant(t, files)
	root := filepath.Join(base, "root")
	opts := catalog.Options{Roots: []catalog.Root{{Path: root}}, Index: filepath.Join(t.TempDir(), "made")}
	before := settle(t, opts)
	if diff := difference(openDirs(t, root).Snapshot(), before); diff != "" {
		t.Errorf("unchanged (-without +with the index):\n%s", diff)
	}

	entry := func(name string) string { return filepath.Join(root, name, "SKILL.md") }
	write(t, entry("saved"), skillText("saved", "new"))
	write(t, entry("broken"), "no")
	// Another file of the same length with the times of the old one.
	old, err := os.Stat(entry("swapped"))
	check(t, err)
	write(t, filepath.Join(base, "aside"), skillText("swapped", "new"))
	check(t, os.Chtimes(filepath.Join(base, "aside"), old.ModTime(), old.ModTime()))
	check(t, os.Rename(filepath.Join(base, "aside"), entry("swapped")))
	check(t, os.RemoveAll(filepath.Join(root, "gone")))
	check(t, os.RemoveAll(filepath.Join(root, "linked")))
	check(t, os.MkdirAll(filepath.Join(root, "linked"), 0o755))
	check(t, os.Symlink(filepath.Join(base, "outside", "SKILL.md"), entry("linked")))
	check(t, os.Rename(filepath.Join(root, "moved"), filepath.Join(root, "elsewhere")))
	write(t, filepath.Join(root, "tooled", "tools.json"), "[]")
	write(t, filepath.Join(root, "kept", "new", "SKILL.md"), skillText("new", "x"))

	got := indexed(t, opts)
	if diff := difference(openDirs(t, root).Snapshot(), got); diff != "" {
		t.Errorf("(-without +with the index):\n%s", diff)
	}
	wantNames(t, got, "kept moved new saved swapped tooled")
	if !lookup(t, got, "kept").Unread() || lookup(t, got, "swapped").Description != "new" {
		t.Error("what stayed was read, or what was swapped was not")
	}
}

// TestIndexOfOthers: by other rules, or as a root of packs, what was kept is not
// believed.
func TestIndexOfOthers(t *testing.T) {
	needsIndex(t)
	root := plant(t, map[string]string{
		"one/SKILL.md": skillText("other", "x"), "two/SKILL.md": "# Two\n", "two/README.md": skillText("two", "x"), "three/SKILL.md": skillText("three", "x"),
	})
	opts := catalog.Options{Roots: []catalog.Root{{Path: root}}, Index: t.TempDir()}
	wantNames(t, settle(t, opts), "other three")
	strict, packs, hidden := opts, opts, opts
	strict.Strict = true
	packs.Roots = []catalog.Root{{Path: root, Pack: true, Prefix: "team"}}
	hidden.Hides, hidden.MaxSkills = func(_ int, name string) bool { return name == "other" }, 1
	wantNames(t, indexed(t, strict), "three")
	s := indexed(t, packs)
	wantNames(t, s, "other three two")
	if path := lookup(t, s, "three").Path; path != "team/three" {
		t.Errorf("the path is %s", path)
	}
	wantNames(t, indexed(t, hidden), "three")
	wantNames(t, indexed(t, opts), "other three")
}

// TestIndexDamaged: an index that is cut, changed or of others' making costs what
// having none costs, and is made again.
func TestIndexDamaged(t *testing.T) {
	needsIndex(t)
	root := plant(t, map[string]string{"a/SKILL.md": skillText("a", "x")})
	opts := catalog.Options{Roots: []catalog.Root{{Path: root}}, Index: t.TempDir()}
	want := settle(t, opts)
	file := indexFile(t, opts.Index)
	good, err := os.ReadFile(file)
	check(t, err)
	elsewhere := filepath.Join(plant(t, map[string]string{"index": string(good)}), "index")
	for name, damage := range map[string]func(){
		"empty":              func() { write(t, file, "") },
		"cut":                func() { check(t, os.Truncate(file, int64(len(good)/2))) },
		"changed":            func() { write(t, file, strings.Replace(string(good), "description", "Description", 1)) },
		"longer":             func() { write(t, file, string(good)+"x") },
		"a link":             func() { check(t, os.Remove(file)); check(t, os.Symlink(elsewhere, file)) },
		"a directory":        func() { check(t, os.Remove(file)); check(t, os.Mkdir(file, 0o700)) },
		"writable by others": func() { check(t, os.Chmod(file, 0o666)) },
	} {
		t.Run(name, func(t *testing.T) {
			check(t, os.RemoveAll(file))
			check(t, os.WriteFile(file, good, 0o600))
			check(t, os.Chmod(file, 0o600))
			damage()
			got := indexed(t, opts)
			if diff := difference(want, got); diff != "" || recalled(got) > 0 {
				t.Errorf("%d are of the index (-want +got):\n%s", recalled(got), diff)
			}
			if name != "a directory" && recalled(indexed(t, opts)) != 1 {
				t.Error("the index was not made again")
			}
		})
	}
}

// TestIndexForged: who writes an index that adds up changes a line in a list at most,
// until the skill is used.
func TestIndexForged(t *testing.T) {
	needsIndex(t)
	base := plant(t, map[string]string{
		"root/a/SKILL.md":     "---\nname: a\ndescription: honest\nallowed-tools: Read\n---\n",
		"outside/SKILL.md":    skillText("outside", "x"),
		"root/b/xxx/SKILL.md": skillText("xxx", "x"),
	})
	check(t, os.Symlink(filepath.Join(base, "outside"), filepath.Join(base, "root", "b", "yyy")))
	opts := catalog.Options{Roots: []catalog.Root{{Path: filepath.Join(base, "root")}}, Index: t.TempDir()}
	settle(t, opts)
	file := indexFile(t, opts.Index)
	good, err := os.ReadFile(file)
	check(t, err)
	forge := func(old, now string) *catalog.Catalog {
		t.Helper()
		const sum = len("skills-mcp index 1\n")
		forged := bytes.ReplaceAll(good, []byte(old), []byte(now))
		if bytes.Equal(forged, good) {
			t.Fatalf("%q is not in the index", old)
		}
		binary.LittleEndian.PutUint32(forged[sum:], crc32.ChecksumIEEE(forged[sum+4:]))
		check(t, os.WriteFile(file, forged, 0o600))
		return open(t, opts)
	}
	c := forge("honest", "forged")
	if a := lookup(t, c.Snapshot(), "a"); a.Description != "forged" || !a.Unread() {
		t.Errorf("the index was not used: %+v", a)
	}
	a, ok, err := c.Refresh(t.Context(), "a")
	if check(t, err); !ok || a.Description != "honest" || a.Unread() {
		t.Errorf("the skill that is used is %+v", a)
	}
	check(t, c.Close())
	c = forge("\x04Read", "\x04Bash")
	if a, _, err := c.Refresh(t.Context(), "a"); err != nil || a.AllowedTools[0] != "Read" {
		t.Errorf("%+v, %v", a, err)
	}
	check(t, c.Close())
	for _, name := range []string{"../", "yyy", "x/x", "a\x00b"} {
		c := forge("\x03xxx", "\x03"+name)
		if s := names(c.Snapshot()); strings.Contains(s, "outside") {
			t.Errorf("by way of %q there is %s", name, s)
		}
		check(t, c.Close())
	}
}

// TestIndexOutOfReach: where no index can be kept, nothing is different.
func TestIndexOutOfReach(t *testing.T) {
	t.Parallel()
	root := plant(t, map[string]string{"a/SKILL.md": skillText("a", "x"), "file": ""})
	for _, dir := range []string{filepath.Join(root, "file", "below"), "/proc/none"} {
		wantNames(t, indexed(t, catalog.Options{Roots: []catalog.Root{{Path: root}}, Index: dir}), "a")
	}
}

// TestIndexShared: catalogs that keep one index at once do not damage it.
func TestIndexShared(t *testing.T) {
	needsIndex(t)
	root := plant(t, map[string]string{"a/SKILL.md": skillText("a", "x"), "b/SKILL.md": skillText("b", "x")})
	opts := catalog.Options{Roots: []catalog.Root{{Path: root}}, Index: t.TempDir()}
	settle(t, opts)
	done := make(chan *catalog.Snapshot)
	for range 8 {
		go func() {
			check(t, os.RemoveAll(indexName(opts.Index)))
			done <- indexed(t, opts)
		}()
	}
	for range 8 {
		wantNames(t, <-done, "a b")
	}
	if s := settle(t, opts); recalled(s) != 2 {
		t.Error("the index is damaged")
	}
	indexFile(t, opts.Index)
}

// indexName is the first index in a directory, or nothing that is there.
func indexName(dir string) string {
	found, _ := filepath.Glob(filepath.Join(dir, strings.Repeat("[0-9a-f]", 64)))
	return append(found, filepath.Join(dir, "none"))[0]
}
