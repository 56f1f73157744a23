package changes_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

// fixture is a project, a store, and a set for the one in the other.
type fixture struct {
	t       testing.TB
	project string
	state   string
	store   *changes.Store
	set     *changes.Set
}

// set up makes a project of these files.
func setUp(t testing.TB, files map[string]string) *fixture {
	t.Helper()
	f := &fixture{t: t, project: testfiles.Dir(t, files), state: filepath.Join(testfiles.Dir(t, nil), "state")}
	f.open(changes.Options{})
	var err error
	if f.set, err = f.store.New(changes.Target{Path: f.project, Label: "project"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.set.Close()
		if err := tempdir.Remove(f.state); err != nil { // overlays leave what cannot be listed
			t.Error(err)
		}
	})
	return f
}

func (f *fixture) open(o changes.Options) {
	f.t.Helper()
	var err error
	if f.store, err = changes.Open(f.state, o); err != nil {
		f.t.Fatal(err)
	}
}

// upper is the directory that programs write in the form of an overlay's.
type upper struct {
	t     testing.TB
	dir   string
	lower string
}

// run has programs do something.
func (f *fixture) run(do func(upper)) {
	f.t.Helper()
	release, err := f.set.Use(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	do(f.upper())
	if err := release(); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) upper() upper {
	u := upper{f.t, filepath.Join(f.set.Dir(), sandbox.UpperDir), f.project}
	u.check(os.MkdirAll(u.dir, 0o755))
	return u
}

func (u upper) check(errs ...error) {
	u.t.Helper()
	if err := errors.Join(errs...); err != nil {
		u.t.Fatal(err)
	}
}

func (u upper) path(name string) string { return filepath.Join(u.dir, filepath.FromSlash(name)) }

// parents copies the directories above a name up.
func (u upper) parents(name string) {
	u.t.Helper()
	for i, c := range name {
		if c != '/' {
			continue
		}
		mode := fs.FileMode(0o755)
		if info, err := os.Stat(filepath.Join(u.lower, name[:i])); err == nil {
			mode = info.Mode().Perm()
		}
		if err := os.Mkdir(u.path(name[:i]), mode); err == nil {
			u.check(os.Chmod(u.path(name[:i]), mode))
		}
	}
}

func (u upper) write(name, text string) { u.t.Helper(); u.writeMode(name, text, 0o644) }

func (u upper) writeMode(name, text string, mode fs.FileMode) {
	u.t.Helper()
	u.parents(name)
	_ = os.Remove(u.path(name))
	u.check(os.WriteFile(u.path(name), []byte(text), 0o600), os.Chmod(u.path(name), mode))
}

func (u upper) symlink(target, name string) {
	u.t.Helper()
	u.parents(name)
	u.check(os.Symlink(target, u.path(name)))
}

func (u upper) mkdir(name string, mode fs.FileMode) {
	u.t.Helper()
	u.parents(name)
	u.check(os.Mkdir(u.path(name), mode), os.Chmod(u.path(name), mode))
}

func (u upper) whiteout(name string) {
	u.t.Helper()
	u.parents(name)
	u.check(os.RemoveAll(u.path(name)), unix.Mknod(u.path(name), unix.S_IFCHR, 0))
}

func (u upper) opaque(name string) {
	u.t.Helper()
	u.parents(name + "/")
	u.check(unix.Setxattr(u.path(name), "user.overlay.opaque", []byte("y"), 0))
}

// tree describes what is in a directory, a line for each path: its mode, path
// and content.
func tree(t testing.TB, dir string) []string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, text := strings.TrimPrefix(path, dir+"/"), ""
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = fmt.Sprintf("%q", data)
		case info.Mode().Type() == fs.ModeSymlink:
			text, err = os.Readlink(path)
		}
		lines = append(lines, fmt.Sprintf("%v %s %s", info.Mode(), name, text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func (f *fixture) held() changes.Held {
	f.t.Helper()
	return f.heldBy(nil)
}

func (f *fixture) heldBy(judge changes.Judge) changes.Held {
	f.t.Helper()
	held, err := f.set.Held(f.t.Context(), judge)
	if err != nil {
		f.t.Fatal(err)
	}
	return held
}

// summary is a line for each change, refusals with a "!".
func summary(held changes.Held) []string {
	lines := []string{}
	for _, c := range held.Files {
		line := fmt.Sprintf("%s %v %s", c.Kind, c.Mode, c.Path)
		if c.Conflict != "" {
			line += ": " + c.Conflict
		}
		lines = append(lines, line)
	}
	for _, r := range held.Refused {
		lines = append(lines, "! "+r.Path+": "+r.Reason)
	}
	return lines
}

func (f *fixture) apply(paths ...string) changes.Outcome {
	f.t.Helper()
	outcome, err := f.set.Apply(f.t.Context(), f.held().ID, paths, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return outcome
}

// outcome is a line for each path.
func lines(o changes.Outcome) []string {
	out := []string{}
	for _, c := range o.Applied {
		out = append(out, fmt.Sprintf("%s %s", c.Kind, c.Path))
	}
	for _, r := range o.Conflicts {
		out = append(out, fmt.Sprintf("conflict %s: %s", r.Path, r.Reason))
	}
	for _, r := range o.Refused {
		out = append(out, fmt.Sprintf("refused %s: %s", r.Path, r.Reason))
	}
	slices.Sort(out)
	return out
}

func now(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
