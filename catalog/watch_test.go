package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog"
)

// follower collects the changes of a running Watch.
type follower struct {
	t       *testing.T
	catalog *catalog.Catalog
	changes chan catalog.Change
	rounds  int // of watching
}

// follow starts a Watch that ends with the test.
func follow(t *testing.T, opts catalog.Options) *follower {
	t.Helper()
	f := &follower{t: t, catalog: open(t, opts), changes: make(chan catalog.Change, 10_000)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- f.catalog.Watch(ctx, func(c catalog.Change) { f.changes <- c }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Watch: %v", err)
		}
	})
	return f
}

// until waits for the change that makes done true.
func (f *follower) until(what string, done func(catalog.Change) bool) catalog.Change {
	f.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		select {
		case change := <-f.changes:
			if change.Before == change.After && len(change.Files) == 0 {
				f.t.Error("a change in which nothing changed")
			}
			if done(change) {
				return change
			}
		case <-deadline:
			f.t.Fatalf("never saw: %s; skills now: %s; problems: %v", what, names(f.catalog.Snapshot()), f.catalog.Snapshot().Problems())
		}
	}
}

// described waits until a skill has a description; empty is for no skill.
func (f *follower) described(name, description string) catalog.Change {
	f.t.Helper()
	return f.until(name+" described as "+description, func(c catalog.Change) bool {
		skill, ok := c.After.Lookup(name)
		return ok == (description != "") && (!ok || skill.Description == description)
	})
}

// touched waits until a path is among the files of changes.
func (f *follower) touched(path string) {
	f.t.Helper()
	f.until(path+" changed", func(c catalog.Change) bool { return slices.Contains(c.Files, path) })
}

// watching makes sure that the watches are set: what a test changes from
// here on is seen by events.
func (f *follower) watching(dir string) {
	f.t.Helper()
	f.rounds++
	description := fmt.Sprint("round ", f.rounds)
	write(f.t, filepath.Join(dir, "ready/SKILL.md"), skillText("ready", description))
	f.described("ready", description)
}

func roots(dirs ...string) catalog.Options {
	var opts catalog.Options
	for _, dir := range dirs {
		opts.Roots = append(opts.Roots, catalog.Root{Path: dir})
	}
	return opts
}

func TestWatch(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]catalog.Options{"events": {}, "polling": {Poll: 20 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := plant(t, map[string]string{"a/SKILL.md": skillText("a", "one")})
			opts.Roots = roots(dir).Roots
			f := follow(t, opts)
			f.watching(dir)
			entry := filepath.Join(dir, "a/SKILL.md")

			write(t, entry, skillText("a", "two"))
			change := f.described("a", "two")
			if old := lookup(t, change.Before, "a").Description; old != "one" {
				t.Errorf("before: %q", old)
			}
			if !slices.Contains(change.Files, entry) || opts.Poll > 0 && len(change.Files) > 1 {
				t.Errorf("files: %v", change.Files)
			}
			write(t, entry+".new", skillText("a", "saved"))
			check(t, os.Rename(entry+".new", entry))
			f.described("a", "saved")

			script := filepath.Join(dir, "a/scripts/deep/run.sh")
			write(t, script, "echo 1\n")
			f.until("the new directory or the file in it", func(c catalog.Change) bool {
				return slices.ContainsFunc(c.Files, func(path string) bool { return strings.HasPrefix(script, path) })
			})
			f.watching(dir)
			write(t, script, "echo 2\n")
			f.touched(script)
			check(t, os.Remove(script))
			f.touched(script)

			write(t, entry, "broken")
			f.touched(entry)
			if got := lookup(t, f.catalog.Snapshot(), "a").Description; got != "saved" {
				t.Errorf("after a broken save: %q", got)
			}
			wantRules(t, f.catalog.Snapshot().Problems(), "frontmatter-missing")

			check(t, os.RemoveAll(filepath.Join(dir, "a")))
			f.described("a", "")
			write(t, filepath.Join(dir, "group/more/b/SKILL.md"), skillText("b", "new"))
			f.described("b", "new")
			check(t, os.Rename(filepath.Join(dir, "group"), filepath.Join(dir, "moved")))
			f.until("the new place of b", func(c catalog.Change) bool {
				b, ok := c.After.Lookup("b")
				return ok && b.Dir == filepath.Join(dir, "moved/more/b")
			})
			write(t, filepath.Join(dir, "moved/more/b/SKILL.md"), skillText("b", "edited"))
			f.described("b", "edited")
		})
	}
}

func TestWatchRootsThatComeAndGo(t *testing.T) {
	t.Parallel()
	base := plant(t, map[string]string{"there/a/SKILL.md": skillText("a", "one")})
	there, later := filepath.Join(base, "there"), filepath.Join(base, "not/yet/there")
	f := follow(t, roots(there, later))
	f.watching(there)

	write(t, filepath.Join(later, "b/SKILL.md"), skillText("b", "late"))
	f.described("b", "late")
	write(t, filepath.Join(later, "b/SKILL.md"), skillText("b", "edited"))
	f.described("b", "edited")

	check(t, os.Rename(there, there+".old"))
	f.described("a", "")
	write(t, filepath.Join(there, "a/SKILL.md"), skillText("a", "again"))
	f.described("a", "again")
	write(t, filepath.Join(there, "a/SKILL.md"), skillText("a", "edited"))
	f.described("a", "edited")

	check(t, os.RemoveAll(filepath.Join(base, "not")))
	f.described("b", "")
	write(t, filepath.Join(later, "b/SKILL.md"), skillText("b", "back"))
	f.described("b", "back")
}

func TestWatchLinks(t *testing.T) {
	t.Parallel()
	one := plant(t, map[string]string{"demo/SKILL.md": skillText("demo", "one"), "demo/x.txt": "1"})
	two := plant(t, map[string]string{"demo/SKILL.md": skillText("demo", "two"), "demo/x.txt": "1"})
	root := plant(t, nil)
	link := filepath.Join(root, "demo")
	check(t, os.Symlink(filepath.Join(one, "demo"), link))
	current := filepath.Join(plant(t, nil), "current")
	check(t, os.Symlink(root, current))
	f := follow(t, roots(current))
	f.watching(root)

	write(t, filepath.Join(one, "demo/x.txt"), "2")
	f.touched(filepath.Join(current, "demo/x.txt"))
	// A link is replaced as a deployment does it.
	check(t, os.Symlink(filepath.Join(two, "demo"), link+".new"))
	check(t, os.Rename(link+".new", link))
	f.described("demo", "two")
	f.watching(root)
	write(t, filepath.Join(two, "demo/x.txt"), "2")
	f.touched(filepath.Join(current, "demo/x.txt"))
	check(t, os.Symlink(two, current+".new"))
	check(t, os.Rename(current+".new", current))
	f.described("ready", "")
}

func TestWatchArchive(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"x/demo.skill": pack(t, member{name: "SKILL.md", text: skillText("demo", "one")})})
	path := filepath.Join(dir, "x/demo.skill")
	f := follow(t, roots(path))
	write(t, path, pack(t, member{name: "SKILL.md", text: skillText("demo", "two")}))
	f.described("demo", "two")
	check(t, os.Remove(path))
	f.described("demo", "")
	write(t, path, pack(t, member{name: "SKILL.md", text: skillText("demo", "three")}))
	f.described("demo", "three")
}

// TestWatchBurst makes a thousand files; the end state must be reached,
// and while the stream lasts changes must get through.
func TestWatchBurst(t *testing.T) {
	t.Parallel()
	dir := plant(t, nil)
	f := follow(t, roots(dir))
	f.watching(dir)
	const skills = 100
	for i := range skills {
		name := fmt.Sprintf("s%03d", i)
		write(t, filepath.Join(dir, name, "SKILL.md"), skillText(name, "x"))
		for j := range 10 {
			write(t, filepath.Join(dir, name, "references", fmt.Sprint(j)), "x")
		}
	}
	f.until("all skills", func(c catalog.Change) bool { return len(c.After.Skills()) == skills+1 })
	check(t, os.RemoveAll(dir))
	f.until("none", func(c catalog.Change) bool { return len(c.After.Skills()) == 0 })
}

// TestWatchSteadyStream writes without a pause longer than the debounce;
// changes must get through all the same.
func TestWatchSteadyStream(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"a/SKILL.md": skillText("a", "one")})
	f := follow(t, roots(dir))
	f.watching(dir)
	write(t, filepath.Join(dir, "a/SKILL.md"), skillText("a", "two"))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-ticker.C:
				_ = os.WriteFile(filepath.Join(dir, "a/log.txt"), []byte(fmt.Sprint(i)), 0o644)
			}
		}
	}()
	f.described("a", "two")
	close(stop)
	<-done
}

func TestWatchTellsOnlyOfChanges(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"a/SKILL.md": skillText("a", "one"), "x/y.txt": ""})
	f := follow(t, roots(dir))
	f.watching(dir)
	for path, text := range map[string]string{
		"x/y.txt": "not in a skill", "a/SKILL.md~": "x", "a/.SKILL.md.swp": "x", "a/.git/index": "x", "bad/SKILL.md": "a problem only",
	} {
		write(t, filepath.Join(dir, path), text)
	}
	check(t, os.Chmod(filepath.Join(dir, "a/SKILL.md"), 0o600))
	last := filepath.Join(dir, "ready/last.txt")
	write(t, last, "x")
	f.until("the last file", func(c catalog.Change) bool {
		for _, path := range c.Files {
			if !strings.HasPrefix(path, filepath.Dir(last)) {
				t.Errorf("told of %s", path)
			}
		}
		return slices.Contains(c.Files, last)
	})
}

// TestWatchTellsOfOthersScans checks that a change is told whoever scans,
// and that what happened between Open and Watch is not lost.
func TestWatchTellsOfOthersScans(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"a/SKILL.md": skillText("a", "one")})
	c := openDirs(t, dir)
	write(t, filepath.Join(dir, "a/SKILL.md"), skillText("a", "two"))
	rescan(t, c)
	write(t, filepath.Join(dir, "a/SKILL.md"), skillText("a", "three"))
	changes := make(chan catalog.Change, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- c.Watch(ctx, func(change catalog.Change) { changes <- change }) }()
	f := &follower{t: t, catalog: c, changes: changes}
	if change := f.described("a", "three"); lookup(t, change.Before, "a").Description != "one" {
		t.Error("the first change does not begin with what Open gave")
	}
	if err := c.Watch(t.Context(), nil); !errors.Is(err, catalog.ErrWatching) {
		t.Errorf("a second Watch: %v", err)
	}
	write(t, filepath.Join(dir, "a/SKILL.md"), skillText("a", "four"))
	_, _, err := c.Refresh(t.Context(), "a")
	check(t, err)
	f.described("a", "four")
	cancel()
	check(t, <-done)
	// A second one, after the first, goes on where that ended.
	write(t, filepath.Join(dir, "a/SKILL.md"), skillText("a", "five"))
	ctx, cancel = context.WithCancel(t.Context())
	go func() { done <- c.Watch(ctx, func(change catalog.Change) { changes <- change }) }()
	if change := f.described("a", "five"); lookup(t, change.Before, "a").Description != "four" {
		t.Error("the second Watch does not begin where the first ended")
	}
	cancel()
	check(t, <-done)
}

// TestWatchSlowReceiver blocks in notify while more files change than are
// kept apart.
func TestWatchSlowReceiver(t *testing.T) {
	t.Cleanup(catalog.NarrowWatch(1000, time.Second))
	dir := plant(t, map[string]string{"a/SKILL.md": skillText("a", "one")})
	c := openDirs(t, dir)
	changes, hold := make(chan catalog.Change, 10_000), make(chan struct{})
	var slow atomic.Bool
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- c.Watch(ctx, func(change catalog.Change) {
			changes <- change
			if slow.Load() {
				<-hold
			}
		})
	}()
	f := &follower{t: t, catalog: c, changes: changes}
	f.watching(dir) // in more than one change, where a file is seen before it is written
	slow.Store(true)
	for i := range 500 {
		check(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("a/%d.txt", i)), nil, 0o644))
	}
	write(t, filepath.Join(dir, "a/SKILL.md"), skillText("a", "two"))
	close(hold)
	f.described("a", "two")
	cancel()
	check(t, <-done)
}

func TestWatchOverflow(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"a/SKILL.md": skillText("a", "one")})
	f := follow(t, roots(dir))
	f.watching(dir)
	path := filepath.Join(dir, "a/x.txt")
	catalog.Overflow(f.catalog, func() { write(t, path, "x") })
	f.touched(path)
}

// TestWatchLimit lets the watches run out; polling must take over.
func TestWatchLimit(t *testing.T) {
	t.Cleanup(catalog.NarrowWatch(3, 50*time.Millisecond)) // after the Watch has ended
	dir := plant(t, map[string]string{"a/SKILL.md": skillText("a", "one"), "b/SKILL.md": skillText("b", "one"), "c/SKILL.md": skillText("c", "one"), "c/x.txt": "1"})
	f := follow(t, roots(dir))
	write(t, filepath.Join(dir, "c/SKILL.md"), skillText("c", "two"))
	f.described("c", "two")
	wantRules(t, f.catalog.Snapshot().Problems(), "watch-limit")
	write(t, filepath.Join(dir, "c/x.txt"), "2")
	f.touched(filepath.Join(dir, "c/x.txt"))
	write(t, filepath.Join(dir, "c/new/SKILL.md"), skillText("new", "one"))
	f.described("new", "one")
	check(t, os.RemoveAll(filepath.Join(dir, "c/new")))
	for _, name := range []string{"a", "b"} {
		check(t, os.RemoveAll(filepath.Join(dir, name)))
	}
	f.until("fewer directories, all watched", func(c catalog.Change) bool {
		return len(c.After.Skills()) == 1 && len(c.After.Problems()) == 0
	})
}

func TestWatchLeavesNothingBehind(t *testing.T) {
	dir := plant(t, map[string]string{"a/SKILL.md": skillText("a", "one")})
	before := runtime.NumGoroutine()
	for range 20 {
		c := openDirs(t, dir)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.Watch(ctx, func(catalog.Change) {}) }()
		cancel()
		check(t, <-done)
	}
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}
