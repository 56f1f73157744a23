package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
)

func TestDiscovery(t *testing.T) {
	t.Parallel()
	s := skillText
	for _, test := range []struct {
		name         string
		files        map[string]string
		names, rules string
	}{
		{"empty root", nil, "", ""},
		{"sorted by name", map[string]string{"b/SKILL.md": s("b", "x"), "a/SKILL.md": s("a", "x"), "c/SKILL.md": s("c", "x")}, "a b c", ""},
		{"the root is a skill", map[string]string{"SKILL.md": s("r", "x")}, "r", "name-directory"},
		{"deep", map[string]string{"1/2/3/4/5/6/7/eight/SKILL.md": s("eight", "x")}, "eight", ""},
		{"too deep", map[string]string{"1/2/3/4/5/6/7/8/nine/SKILL.md": s("nine", "x")}, "", "directory-depth"},
		{"too deep inside of a skill", map[string]string{"a/SKILL.md": s("a", "x"), "a/2/3/4/5/6/7/8/9/x.txt": ""}, "a", ""},
		{"nested", map[string]string{"a/SKILL.md": s("a", "x"), "a/sub/in/SKILL.md": s("in", "x")}, "a in", ""},
		{"skipped directories", map[string]string{
			".git/a/SKILL.md": s("a", "x"), "node_modules/b/SKILL.md": s("b", "x"), "x/__pycache__/c/SKILL.md": s("c", "x"),
			".venv/d/SKILL.md": s("d", "x"), "x/.hg/e/SKILL.md": s("e", "x"), ".svn/f/SKILL.md": s("f", "x"),
		}, "", ""},
		{"hidden collections", map[string]string{".curated/a/SKILL.md": s("a", "x"), "b/SKILL.md": s("b", "x"), "b/.hidden/c/SKILL.md": s("c", "x")}, "a b", ""},
		{"ignored files", map[string]string{"a/SKILL.md~": s("a", "x"), "a/.SKILL.md.swp": "", "a/#SKILL.md#": s("a", "x")}, "", ""},
		{"another letter case", map[string]string{"a/Skill.MD": s("a", "x"), "b/skill.md": s("b", "x")}, "a b", "entry-case entry-lowercase"},
		{"several letter cases", map[string]string{"a/SKILL.md": s("a", "exact"), "a/skill.md": s("other", "x")}, "a", "entry-twice"},
		{"one fault costs no other", map[string]string{"a/SKILL.md": "no", "b/SKILL.md": s("b", "x"), "c/SKILL.md": "---\n[\n---\n"}, "b", "frontmatter-missing yaml-syntax"},
		{"unicode and spaces", map[string]string{"日本 語/my skill/SKILL.md": s("my skill", "x")}, "my skill", "name-format"},
		{"near before far", map[string]string{"a/old/demo/SKILL.md": s("demo", "far"), "demo/SKILL.md": s("demo", "near")}, "demo", "name-taken"},
		{"equal under NFKC", map[string]string{"ﬁle/SKILL.md": s("ﬁle", "x"), "file/SKILL.md": s("file", "x")}, "file", "name-taken"},
	} {
		dir := plant(t, test.files)
		got := openDirs(t, dir).Snapshot()
		t.Run(test.name, func(t *testing.T) {
			wantNames(t, got, test.names)
			wantRules(t, got.Problems(), test.rules)
			if skill, ok := got.Lookup("demo"); ok && skill.Description != "near" {
				t.Errorf("the %s skill won", skill.Description)
			}
			if skill, ok := got.Lookup("a"); ok && test.name == "several letter cases" && skill.Entry != "SKILL.md" {
				t.Errorf("the entry document is %s", skill.Entry)
			}
		})
	}
}

func TestRootsInOrder(t *testing.T) {
	t.Parallel()
	first := plant(t, map[string]string{"x/SKILL.md": skillText("x", "first"), "y/SKILL.md": skillText("y", "first")})
	second := plant(t, map[string]string{"deeper/x/SKILL.md": skillText("x", "second"), "z/SKILL.md": skillText("z", "second")})
	s := openDirs(t, first, second).Snapshot()
	wantNames(t, s, "x y z")
	if x := lookup(t, s, "x"); x.Description != "first" || x.Root != 0 {
		t.Errorf("x is of root %d: %s", x.Root, x.Description)
	}
	wantRules(t, s.Problems(), "name-taken")
	p := s.Problems()[0]
	if loser := filepath.Join(second, "deeper/x/SKILL.md"); p.File != loser || p.Skill != "x" || !strings.Contains(p.Message, first) {
		t.Errorf("the problem does not name loser and winner: %+v", p)
	}
	wantNames(t, openDirs(t, second, first).Snapshot(), "x y z")
}

func TestRootProblems(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"a/SKILL.md": skillText("a", "x"), "file.txt": ""})
	missing := filepath.Join(dir, "missing")
	s := open(t, catalog.Options{Roots: []catalog.Root{
		{Path: missing}, {Path: missing + "2", Optional: true}, {Path: filepath.Join(dir, "file.txt")}, {Path: dir}, {Path: dir},
	}}).Snapshot()
	wantNames(t, s, "a")
	wantRules(t, s.Problems(), "root-duplicate root-missing root-type")
	for i, p := range s.Problems() {
		if i > 0 && s.Problems()[i-1].File > p.File {
			t.Error("the problems are not sorted by file")
		}
	}
}

func TestNestedRootsPublishOnce(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"in/a/SKILL.md": skillText("a", "x")})
	s := openDirs(t, filepath.Join(dir, "in"), dir).Snapshot()
	wantNames(t, s, "a")
	wantRules(t, s.Problems(), "")
}

func TestLinks(t *testing.T) {
	t.Parallel()
	outside := plant(t, map[string]string{
		"linked/SKILL.md": skillText("linked", "x"), "more/deep/SKILL.md": skillText("deep", "x"), "secret.md": skillText("stolen", "x"),
	})
	root := plant(t, map[string]string{
		"real/SKILL.md": skillText("real", "x"), "group/x.txt": "", "escape/x.txt": "", "inside/real.md": skillText("inside", "x"),
		"absolute/real.md": skillText("absolute", "x"),
	})
	for link, target := range map[string]string{
		"linked":             filepath.Join(outside, "linked"),
		"collection":         filepath.Join(outside, "more"),
		"a-sibling":          "real",
		"group/not-followed": filepath.Join(outside, "linked"),
		"loop":               ".",
		"up":                 "..",
		"self":               "self",
		"broken":             "nowhere",
		"to-a-file":          filepath.Join(outside, "secret.md"),
		"escape/SKILL.md":    filepath.Join(outside, "secret.md"),
		"inside/SKILL.md":    "real.md",
		"absolute/SKILL.md":  filepath.Join(root, "absolute/real.md"),
	} {
		check(t, os.Symlink(target, filepath.Join(root, link)))
	}
	check(t, os.MkdirAll(filepath.Join(root, "dangling"), 0o755))
	check(t, os.Symlink("nothing.md", filepath.Join(root, "dangling/SKILL.md")))
	s := openDirs(t, root).Snapshot()
	wantNames(t, s, "deep inside linked real")
	wantRules(t, s.Problems(), "entry-link link-broken link-loop")
	if dir := lookup(t, s, "linked").Dir; dir != filepath.Join(root, "linked") {
		t.Errorf("the linked skill lies in %s", dir)
	}
	if dir := lookup(t, s, "real").Dir; dir != filepath.Join(root, "real") {
		t.Errorf("the link to a sibling took its place: %s", dir)
	}
}

// TestRootWithin: where a root has to be within a directory, no link leads out of
// that, of one that was made later neither, nor the root itself.
func TestRootWithin(t *testing.T) {
	t.Parallel()
	base := plant(t, map[string]string{
		"kit/skills/own/SKILL.md": skillText("own", "x"), "kit/more/other/SKILL.md": skillText("other", "x"), "private/mine/SKILL.md": skillText("mine", "x"),
	})
	base, err := filepath.EvalSymlinks(base)
	check(t, err)
	kit := filepath.Join(base, "kit")
	root := catalog.Root{Path: filepath.Join(kit, "skills"), Within: kit}
	check(t, os.Symlink("../../private", filepath.Join(root.Path, "out")))
	check(t, os.Symlink("../more", filepath.Join(root.Path, "in")))
	c := open(t, catalog.Options{Roots: []catalog.Root{root}})
	wantNames(t, c.Snapshot(), "other own")
	wantRules(t, c.Snapshot().Problems(), "link-broken")
	check(t, os.Remove(filepath.Join(root.Path, "in")))
	check(t, os.Symlink(filepath.Join(base, "private", "mine"), filepath.Join(root.Path, "in")))
	s, err := c.Rescan(t.Context())
	check(t, err)
	wantNames(t, s, "own")
	check(t, os.RemoveAll(root.Path))
	check(t, os.Symlink("../private", root.Path))
	s, err = c.Rescan(t.Context())
	check(t, err)
	wantNames(t, s, "")
	wantRules(t, s.Problems(), "link-broken")
}

func TestLinkedRoot(t *testing.T) {
	t.Parallel()
	real := plant(t, map[string]string{"a/SKILL.md": skillText("a", "x")})
	link := filepath.Join(plant(t, nil), "skills")
	check(t, os.Symlink(real, link))
	s := openDirs(t, link).Snapshot()
	wantNames(t, s, "a")
	if dir := lookup(t, s, "a").Dir; dir != filepath.Join(link, "a") {
		t.Errorf("the skill lies in %s, not below the root as it was named", dir)
	}
}

func TestPacks(t *testing.T) {
	t.Parallel()
	s := skillText
	root := plant(t, map[string]string{
		"README.md":         "# Our packs\n",
		"one/SKILL.md":      s("one", "x"),
		"one/README.md":     s("wrong", "x"),
		"two/README.md":     s("two", "x"),
		"two/a.md":          s("wrong", "x"),
		"three/README.md":   "# Three\n",
		"three/b.md":        s("wrong", "x"),
		"three/a.md":        s("three", "x"),
		"four/PACK.md":      s("four", "x"),
		"four/SKILL.md":     s("wrong", "x"),
		"five/README.md":    "no frontmatter",
		"six/notes.txt":     s("wrong", "x"),
		"two/docs/x.md":     s("wrong", "x"),
		"seven/in/SKILL.md": s("in", "x"),
	})
	packs := open(t, catalog.Options{Roots: []catalog.Root{{Path: root, Pack: true, Entry: "PACK.md"}}}).Snapshot()
	wantNames(t, packs, "four in one three two")
	wantRules(t, packs.Problems(), "pack-entry")
	for name, entry := range map[string]string{"one": "SKILL.md", "two": "README.md", "three": "a.md", "four": "PACK.md"} {
		if got := lookup(t, packs, name).Entry; got != entry {
			t.Errorf("the entry document of %s is %s, want %s", name, got, entry)
		}
	}
	wantNames(t, openDirs(t, root).Snapshot(), "in one wrong")
	wantNames(t, open(t, catalog.Options{Roots: []catalog.Root{{Path: filepath.Join(root, "two"), Pack: true}}}).Snapshot(), "two")
}

// TestPassedOver: what was meant to be a skill or a pack and is none, or is one by
// another document than it seems, is told.
func TestPassedOver(t *testing.T) {
	t.Parallel()
	pack := func(files map[string]string) catalog.Options {
		return catalog.Options{Roots: []catalog.Root{{Path: plant(t, files), Pack: true}}}
	}
	plain := func(files map[string]string) catalog.Options {
		return catalog.Options{Roots: []catalog.Root{{Path: plant(t, files)}}}
	}
	for name, test := range map[string]struct {
		options catalog.Options
		want    string
	}{
		"SKILL.md of a pack without frontmatter": {pack(map[string]string{"a/SKILL.md": "# A\n", "a/README.md": skillText("a", "x")}), "pack-entry-skipped"},
		"README.md of a pack without":            {pack(map[string]string{"a/README.md": "# A\n", "a/guide.md": skillText("a", "x")}), ""},
		"a pack with nothing but scripts":        {pack(map[string]string{"a/scripts/x.sh": ""}), "entry-missing"},
		"scripts and no entry document":          {plain(map[string]string{"a/scripts/x.sh": "", "a/README.md": "# A\n"}), "entry-missing"},
		"references and no entry document":       {plain(map[string]string{"all/a/references/x.md": ""}), "entry-missing"},
		"a collection with scripts of its own":   {plain(map[string]string{"all/scripts/x.sh": "", "all/a/SKILL.md": skillText("a", "x")}), ""},
		"scripts of a tool":                      {plain(map[string]string{".github/scripts/x.sh": ""}), ""},
		"a root with scripts of its own":         {plain(map[string]string{"scripts/x.sh": ""}), ""},
		"scripts that are a file":                {plain(map[string]string{"a/scripts": ""}), ""},
		"a pack in a plain root":                 {plain(map[string]string{"a/README.md": skillText("a", "x"), "a/scripts/x.sh": ""}), "pack-root"},
		"a plain root that is a pack":            {plain(map[string]string{"guide.md": skillText("a", "x")}), "pack-root"},
		"a page of a site":                       {plain(map[string]string{"a/index.md": "---\ntitle: Home\n---\n"}), ""},
		"an entry document that is broken":       {plain(map[string]string{"a/SKILL.md": "no", "a/README.md": skillText("a", "x"), "a/scripts/x.sh": ""}), "frontmatter-missing"},
	} {
		s := open(t, test.options).Snapshot()
		if got := rules(s.Problems()); got != test.want {
			t.Errorf("%s: broke %q, want %q", name, got, test.want)
		}
		for _, p := range s.Problems() {
			if test.want != "frontmatter-missing" && p.Severity != catalog.Warning {
				t.Errorf("%s: %s is %v", name, p.Rule, p.Severity)
			}
		}
	}
}

// TestMostSkills: of more skills than there may be, those of earlier roots are
// there, hidden ones do not count, and it is told how many are left out.
func TestMostSkills(t *testing.T) {
	t.Parallel()
	first := plant(t, map[string]string{"z/SKILL.md": skillText("z", "x"), "deep/y/SKILL.md": skillText("y", "x"), "hidden/SKILL.md": skillText("hidden", "x")})
	second := plant(t, map[string]string{"a/SKILL.md": skillText("a", "x"), "z/SKILL.md": skillText("z", "x"), "b/SKILL.md": skillText("b", "x")})
	c := open(t, catalog.Options{
		Roots: []catalog.Root{{Path: first}, {Path: second}}, MaxSkills: 2,
		Hides: func(_ int, name string) bool { return name == "hidden" },
	})
	wantNames(t, c.Snapshot(), "y z")
	wantRules(t, c.Snapshot().Problems(), "name-taken skill-limit")
	for _, p := range c.Snapshot().Problems() {
		if p.Rule == "skill-limit" && (!strings.HasSuffix(p.Message, "the first of 2 that are left out") || p.File != filepath.Join(second, "a", "SKILL.md")) {
			t.Errorf("%+v", p)
		}
	}
	check(t, os.RemoveAll(filepath.Join(first, "z")))
	wantNames(t, rescan(t, c), "a y")
}

func TestScanBounds(t *testing.T) {
	files := map[string]string{}
	for i := range 20 {
		name := fmt.Sprintf("s%02d", i)
		files[name+"/SKILL.md"] = skillText(name, "x")
	}
	dir := plant(t, files)
	for name, test := range map[string]struct{ depth, dirs, entries, skills, want int }{
		"directories": {8, 11, 100, 100, 10},
		"skills":      {8, 100, 100, 7, 7},
		"entries":     {8, 100, 19, 100, 0},
		"none":        {8, 21, 20, 20, 20},
	} {
		t.Run(name, func(t *testing.T) {
			defer catalog.NarrowScan(test.depth, test.dirs, test.entries, test.skills)()
			s := openDirs(t, dir).Snapshot()
			if len(s.Skills()) != test.want {
				t.Errorf("%d skills, want %d", len(s.Skills()), test.want)
			}
			if want := map[bool]string{true: "scan-limit"}[name != "none"]; rules(s.Problems()) != want {
				t.Errorf("broke %q, want %q", rules(s.Problems()), want)
			}
		})
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := catalog.Open(ctx, catalog.Options{Roots: []catalog.Root{{Path: t.TempDir()}}}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

func TestProblemsAreLoggedOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	dir := plant(t, map[string]string{"a/SKILL.md": "no"})
	c := open(t, catalog.Options{Roots: []catalog.Root{{Path: dir}}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	rescan(t, c)
	if n := strings.Count(log.String(), "rule=frontmatter-missing"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, &log)
	}
}
