package catalog_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// TestUpdate makes changes at random. A catalog that looks at what changed alone
// must be what one is that scans everything each time, and in the end what one is
// that is opened then.
func TestUpdate(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere nobody can be asked for the events of what has happened so far")
	}
	t.Parallel()
	operations := testenv.Rounds(t, 300, 50_000)
	if testing.Short() {
		operations = 100
	}
	for seed := range uint64(testenv.Rounds(t, 1, 2)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			a := newAuthor(t, seed)
			followed, scanned := open(t, a.options()), open(t, a.options())
			ctx, cancel := context.WithCancel(t.Context())
			t.Cleanup(cancel)
			update, err := catalog.Follow(ctx, followed)
			check(t, err)
			for done := 0; done < operations; {
				var log []string
				for range 1 + a.random.IntN(6) {
					log = append(log, a.operate())
					done++
				}
				if enough, err := update(); err != nil || !enough {
					t.Fatalf("after %q: everything was to be scanned, %v", log, err)
				}
				if diff := difference(rescan(t, scanned), followed.Snapshot()); diff != "" {
					t.Fatalf("after %q (-all scanned +followed):\n%s", log, diff)
				}
			}
			a.repair()
			_, err = update()
			check(t, err)
			if diff := difference(open(t, a.options()).Snapshot(), followed.Snapshot()); diff != "" {
				t.Errorf("in the end (-opened then +followed):\n%s", diff)
			}
		})
	}
}

// difference compares what two catalogs of the same roots say.
func difference(want, got *catalog.Snapshot) string {
	options := cmp.Options{
		cmp.AllowUnexported(), cmpopts.IgnoreUnexported(catalog.Skill{}), cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(catalog.Skill{}, "Withheld"),
		// Each catalog extracts archives to a directory of its own.
		cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Dir" }, cmp.Transformer("base", func(dir string) string {
			if _, below, extracted := strings.Cut(dir, "skills-mcp-catalog-"); extracted {
				return filepath.Join(strings.Split(below, string(filepath.Separator))[2:]...)
			}
			return dir + "/"
		})),
	}
	return cmp.Diff(want.Skills(), got.Skills(), options) + cmp.Diff(want.Hidden(), got.Hidden(), options) +
		cmp.Diff(want.Problems(), got.Problems(), options)
}

// author changes roots of all kinds at random: one of skills, one of packs, one
// that a link leads to, an archive, one in another, and one that comes and goes.
// What cannot be done, since something is or is not there, is not.
type author struct {
	t       *testing.T
	base    string
	random  *rand.Rand
	repairs map[string]bool // entry documents that may be broken
	round   int
}

func newAuthor(t *testing.T, seed uint64) *author {
	base := plant(t, map[string]string{
		"plain/a/SKILL.md": skillText("a", "x"), "packs/b/README.md": skillText("b", "x"), "real/c/SKILL.md": skillText("c", "x"),
		"other/c/SKILL.md": skillText("c", "y"), "outside/d/SKILL.md": skillText("d", "x"), "outside/e.zip": "",
	})
	check(t, os.Symlink("real", filepath.Join(base, "linked")))
	a := &author{t: t, base: base, random: rand.New(rand.NewPCG(seed, 7)), repairs: map[string]bool{}}
	t.Cleanup(a.unlock)
	return a
}

// unlock lets everything be read.
func (a *author) unlock() {
	check(a.t, filepath.WalkDir(a.base, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = os.Chmod(path, 0o755)
		}
		return err
	}))
}

func (a *author) options() catalog.Options {
	at := func(name string) string { return filepath.Join(a.base, name) }
	return catalog.Options{
		Roots: []catalog.Root{
			{Path: at("plain/a/nested")}, {Path: at("plain")}, {Path: at("packs"), Pack: true, Prefix: "team"}, {Path: at("linked")},
			{Path: at("whole.zip"), Optional: true}, {Path: at("far/away/skills"), Prefix: "far"}, {Path: at("plain")},
		},
		Hides: func(root int, name string) bool { return name == "s1" && root != 2 },
	}
}

// pick returns one of these.
func pick[T any](a *author, all ...T) T { return all[a.random.IntN(len(all))] }

// dir is a path of few, so that operations meet.
func (a *author) dir() string {
	path := filepath.Join(a.base, pick(a, "plain", "plain", "plain", "packs", "real", "other", "linked", "far/away/skills", "outside"))
	for _, names := range [][]string{{"a", "b", "c", "d", "link"}, {"nested", "references", ".curated", "node_modules", "s1"}, {"deep", "a"}} {
		if a.random.IntN(3) > 0 {
			path = filepath.Join(path, pick(a, names...))
		}
	}
	return path
}

// text is an entry document, seldom broken, of a name of few.
func (a *author) text() string {
	a.round++
	name := pick(a, "a", "b", "c", "d", "deep", "nested", "s1", "s2")
	if a.random.IntN(6) == 0 {
		return pick(a, "", "broken", "---\nname: [\n---\n", "---\nname: "+name+"\n---\n", "---\nname: \xff\ndescription: x\n---\n")
	}
	return skillText(name, fmt.Sprint("round ", a.round)) + pick(a, "", "", "\xff")
}

// operate does one thing and says what.
func (a *author) operate() string {
	one, other := a.dir(), a.dir()
	inside := func(names ...string) string { return filepath.Join(one, pick(a, names...)) }
	entry := inside("SKILL.md", "SKILL.md", "SKILL.md", "SKILL.md", "skill.md", "README.md", "notes.md", "references/real.md")
	switch n := a.random.IntN(30); {
	case n < 8:
		return said("save", entry, a.save(entry))
	case n < 10:
		aside := filepath.Join(a.base, "aside.md")
		return said("replace", entry, a.save(aside), os.Rename(aside, entry))
	case n < 11:
		return said("remove", entry, os.Remove(entry))
	case n < 13:
		return said("make", one, os.MkdirAll(one, 0o755))
	case n < 16:
		return said("rename "+one+" to", other, os.Rename(one, other))
	case n < 18:
		aside := filepath.Join(a.base, "aside")
		_ = os.RemoveAll(aside)
		return said("swap "+one+" and", other, os.Rename(one, aside), os.Rename(other, one), os.Rename(aside, other))
	case n < 20:
		return said("remove", one, os.RemoveAll(one))
	case n < 22:
		file := inside("tools.json", "x.txt", ".git", "bad\x01name", "SKILL.md~", "x.skill")
		if os.Remove(file) == nil {
			return "remove " + file
		}
		return said("write", file, os.WriteFile(file, []byte("[]"), 0o644))
	case n < 24:
		return a.link(one, other)
	case n < 26:
		path := filepath.Join(a.base, pick(a, "whole.zip", "plain/a.zip", "plain/b.skill", "packs/p.zip", "outside/e.zip"))
		if a.random.IntN(4) == 0 && os.RemoveAll(path) == nil {
			return "remove " + path
		}
		text := pack(a.t, member{name: "SKILL.md", text: a.text()}, member{name: "in/SKILL.md", text: a.text()})
		return said("write", path, os.WriteFile(path, []byte(text[a.random.IntN(8)/7:]), 0o644))
	case n < 27:
		return said("change the mode of", one, os.Chmod(one, pick[os.FileMode](a, 0, 0o755, 0o755, 0o755)))
	case n < 28:
		away := filepath.Join(a.base, "moved")
		root := filepath.Join(a.base, pick(a, "plain", "packs", "real", "far/away", "far"))
		if os.Rename(away, root) == nil {
			return "move back " + root
		}
		return said("move away", root, os.Rename(root, away))
	default:
		root := filepath.Join(a.base, pick(a, "plain", "far/away/skills"))
		return said("make again", root, os.RemoveAll(root), os.MkdirAll(root, 0o755))
	}
}

func (a *author) save(path string) error {
	a.repairs[path] = true
	return os.WriteFile(path, []byte(a.text()), 0o644)
}

// link makes a symbolic link, or points it somewhere else, as deployments do.
func (a *author) link(one, other string) string {
	target, path := other, filepath.Join(one, "link")
	switch a.random.IntN(4) {
	case 0:
		target, path = pick(a, "real", "other"), filepath.Join(a.base, "linked")
	case 1:
		target, path = "references/real.md", filepath.Join(one, "SKILL.md")
	case 2:
		target, path = filepath.Join(a.base, "outside/d"), filepath.Join(a.base, "plain/link")
	}
	aside := filepath.Join(a.base, "aside.link")
	_ = os.Remove(aside)
	return said("link to "+target, path, os.Symlink(target, aside), os.Rename(aside, path))
}

func said(what, path string, errs ...error) string { return fmt.Sprint(what, " ", path, " ", errs) }

// repair has nothing broken: of that a catalog that was open before knows more.
func (a *author) repair() {
	a.unlock()
	for _, archive := range []string{"whole.zip", "plain/a.zip", "plain/b.skill", "packs/p.zip", "outside/e.zip"} {
		_ = os.RemoveAll(filepath.Join(a.base, archive))
	}
	check(a.t, filepath.WalkDir(a.base, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSymlink != 0 && filepath.Ext(path) == ".md" {
			err = os.Remove(path) // it may lead nowhere
		}
		return err
	}))
	for path := range a.repairs {
		if _, err := os.Stat(path); err == nil {
			check(a.t, os.WriteFile(path, []byte(skillText("repaired", path)), 0o644))
		}
	}
}
