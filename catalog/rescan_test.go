package catalog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
)

func TestRescanSeesEveryKindOfChange(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"a/SKILL.md": skillText("a", "one"), "b/SKILL.md": skillText("b", "x")})
	c := openDirs(t, dir)
	first := c.Snapshot()
	entry := filepath.Join(dir, "a/SKILL.md")

	// The same size, within the granularity of time stamps.
	write(t, entry, skillText("a", "two"))
	if got := lookup(t, rescan(t, c), "a").Description; got != "two" {
		t.Errorf("after an edit of equal length: %q", got)
	}
	if lookup(t, c.Snapshot(), "b") != lookup(t, first, "b") && lookup(t, c.Snapshot(), "b").Description != "x" {
		t.Error("the other skill changed")
	}
	// An atomic save.
	write(t, entry+".tmp", skillText("a", "six"))
	check(t, os.Rename(entry+".tmp", entry))
	if got := lookup(t, rescan(t, c), "a").Description; got != "six" {
		t.Errorf("after an atomic save: %q", got)
	}
	write(t, filepath.Join(dir, "a/tools.json"), "[]")
	if !lookup(t, rescan(t, c), "a").HasTools {
		t.Error("tools.json was not seen")
	}
	check(t, os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "z")))
	if got := lookup(t, rescan(t, c), "a").Dir; got != filepath.Join(dir, "z") {
		t.Errorf("after a rename the skill lies in %s", got)
	}
	check(t, os.RemoveAll(filepath.Join(dir, "b")))
	wantNames(t, rescan(t, c), "a")
	check(t, os.RemoveAll(dir))
	wantNames(t, rescan(t, c), "")
	wantRules(t, c.Snapshot().Problems(), "root-missing")
	write(t, filepath.Join(dir, "b/SKILL.md"), skillText("b", "back"))
	wantNames(t, rescan(t, c), "b")
	wantRules(t, c.Snapshot().Problems(), "")

	wantNames(t, first, "a b")
	if got := lookup(t, first, "a").Description; got != "one" {
		t.Errorf("the first snapshot changed: %q", got)
	}
}

func TestBrokenSaveKeepsTheLastGoodVersion(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"a/SKILL.md": skillText("a", "good")})
	c := openDirs(t, dir)
	entry := filepath.Join(dir, "a/SKILL.md")
	for broken, rule := range map[string]string{
		"":                                       "frontmatter-missing",
		"---\nname: a\n":                         "frontmatter-unclosed",
		"---\nname: [\n---\n":                    "yaml-syntax",
		"---\nname: a\n---\n":                    "description-missing",
		"---\nname: a\ndescription: \xff\n---\n": "encoding",
	} {
		write(t, entry, broken)
		for range 2 { // the second scan finds it unchanged
			if got := lookup(t, rescan(t, c), "a").Description; got != "good" {
				t.Errorf("%q: description %q", broken, got)
			}
			wantRules(t, c.Snapshot().Problems(), rule)
		}
		if p := c.Snapshot().Problems()[0]; p.Skill != "a" || p.Severity != catalog.Error {
			t.Errorf("%q: %+v", broken, p)
		}
		if !lookup(t, c.Snapshot(), "a").Stale() {
			t.Errorf("%q: the kept version is not stale", broken)
		}
	}
	write(t, entry, skillText("a", "mended"))
	if got := lookup(t, rescan(t, c), "a").Description; got != "mended" {
		t.Errorf("mended: description %q", got)
	}
	wantRules(t, c.Snapshot().Problems(), "")
	write(t, entry, "broken")
	rescan(t, c)
	check(t, os.Remove(entry))
	wantNames(t, rescan(t, c), "")
	write(t, entry, "broken")
	wantNames(t, rescan(t, c), "")
}

func TestStaleAndRefresh(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"a/SKILL.md": skillText("a", "one"), "b/SKILL.md": skillText("b", "x")})
	c := openDirs(t, dir)
	entry := filepath.Join(dir, "a/SKILL.md")
	a := lookup(t, c.Snapshot(), "a")
	refresh := func(name string) (*catalog.Skill, bool) {
		skill, ok, err := c.Refresh(t.Context(), name)
		check(t, err)
		return skill, ok
	}
	if a.Stale() {
		t.Error("stale without a change")
	}
	before := c.Snapshot()
	if same, ok := refresh("a"); !ok || same.Description != "one" {
		t.Errorf("refreshed without a change: %+v", same)
	}
	write(t, entry, skillText("a", "two"))
	if !a.Stale() {
		t.Error("not stale after an edit of equal length")
	}
	if now, ok := refresh("a"); !ok || now.Description != "two" || now.Stale() || lookup(t, c.Snapshot(), "a") != now {
		t.Errorf("refreshed: %+v", now)
	}
	if lookup(t, before, "a").Description != "one" {
		t.Error("the older snapshot changed")
	}
	write(t, entry, "broken")
	if now, ok := refresh("a"); !ok || now.Description != "two" {
		t.Errorf("refreshed after a broken save: %+v", now)
	}
	wantRules(t, c.Snapshot().Problems(), "frontmatter-missing")
	check(t, os.Remove(entry))
	check(t, os.Mkdir(entry, 0o755))
	if now, ok := refresh("a"); !ok || now.Description != "two" {
		t.Errorf("refreshed with a directory for an entry document: %+v", now)
	}
	if p := c.Snapshot().Problems(); rules(p) != "entry-type" || !strings.Contains(p[0].Message, "last good version") {
		t.Errorf("problems: %v", p)
	}
	check(t, os.Remove(entry))
	write(t, entry, skillText("renamed", "two"))
	if now, ok := refresh("a"); ok {
		t.Errorf("the skill has another name and was given as %+v", now)
	}
	wantNames(t, c.Snapshot(), "b renamed")
	renamed := lookup(t, c.Snapshot(), "renamed")
	check(t, os.Remove(entry))
	if _, ok := refresh("renamed"); ok || !renamed.Stale() {
		t.Error("a deleted skill was given, or is not stale")
	}
	wantNames(t, c.Snapshot(), "b")
	if _, ok := refresh("unknown"); ok {
		t.Error("an unknown skill was given")
	}
}

// TestRefreshUncoversTheLoser checks that precedence holds when one skill is
// refreshed.
func TestRefreshUncoversTheLoser(t *testing.T) {
	t.Parallel()
	first := plant(t, map[string]string{"a/SKILL.md": skillText("a", "first")})
	second := plant(t, map[string]string{"a/SKILL.md": skillText("a", "second")})
	c := openDirs(t, first, second)
	write(t, filepath.Join(first, "a/SKILL.md"), skillText("b", "first"))
	now, ok, err := c.Refresh(t.Context(), "a")
	check(t, err)
	if !ok || now.Description != "second" {
		t.Errorf("after the winner was renamed: %+v", now)
	}
	wantNames(t, c.Snapshot(), "a b")
}

func TestRescanTogether(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"a/SKILL.md": skillText("a", "x")})
	c := openDirs(t, dir)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			name := string(rune('b' + i))
			if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name, "SKILL.md"), []byte(skillText(name, "x")), 0o644); err != nil {
				t.Error(err)
			}
			// The scan must have begun after the file was written.
			s, err := c.Rescan(t.Context())
			if err != nil {
				t.Error(err)
			} else if _, ok := s.Lookup(name); !ok {
				t.Errorf("%s is not in the snapshot that Rescan gave: %s", name, names(s))
			}
			if _, _, err := c.Refresh(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(c.Snapshot().Skills()); n != 17 {
		t.Errorf("%d skills in the end", n)
	}
}

func TestOneCallersContextDoesNotEndAnothersScan(t *testing.T) {
	t.Parallel()
	c := openDirs(t, plant(t, map[string]string{"a/SKILL.md": skillText("a", "x")}))
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%2 == 0 {
				cancel()
			}
			if _, err := c.Rescan(ctx); err != nil && (i%2 == 1 || !errors.Is(err, context.Canceled)) {
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	all.Wait()
}

func TestClosed(t *testing.T) {
	t.Parallel()
	c, err := catalog.Open(t.Context(), catalog.Options{Roots: []catalog.Root{{Path: plant(t, map[string]string{"a/SKILL.md": skillText("a", "x")})}}})
	check(t, err)
	check(t, c.Close())
	check(t, c.Close())
	wantNames(t, c.Snapshot(), "a")
	if _, err := c.Rescan(t.Context()); !errors.Is(err, catalog.ErrClosed) {
		t.Errorf("Rescan: %v", err)
	}
	if _, _, err := c.Refresh(t.Context(), "a"); !errors.Is(err, catalog.ErrClosed) {
		t.Errorf("Refresh: %v", err)
	}
	if err := c.Watch(t.Context(), nil); !errors.Is(err, catalog.ErrClosed) {
		t.Errorf("Watch: %v", err)
	}
}
