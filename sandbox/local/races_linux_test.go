//go:build amd64 || arm64

package local_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/artifact"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
)

// outsideVariable makes this test the program that races the server, and names
// the directory that it wants.
const outsideVariable = "LOCAL_TEST_OUTSIDE"

const secret = "secret of somebody else"

// A program swaps directories and files of its workspace for links that lead
// out, as fast as it can, while the server works there. What goes by names as
// one would first write it is led astray each time; the server never is.
func TestRacesDoNotLeadOut(t *testing.T) {
	if outside := os.Getenv(outsideVariable); outside != "" {
		swap(outside)
	}
	testenv.Slow(t, "works among races for a while")
	t.Parallel()
	for _, tier := range []local.Tier{local.Full, local.Restricted} {
		t.Run(string(tier), func(t *testing.T) {
			backend := opener(tier)(t)
			defer backend.Close()
			spaces, err := workspaces.New(t.TempDir(), workspaces.Options{})
			if err != nil {
				t.Fatal(err)
			}
			space, err := spaces.Create("")
			if err != nil {
				t.Fatal(err)
			}
			outside := newOutside(t)
			stop := race(t, backend, space, outside.dir)
			defer stop()
			for name, fallen := range naive {
				expectFall(t, name, func() bool { return fallen(space.Dir, outside) })
				outside.restore(t)
			}
			before := outside.describe(t)
			workAmongRaces(t, backend, space)
			_ = spaces.Close() // as much as it can, while the program still swaps
			if after := outside.describe(t); after != before {
				t.Errorf("outside was %s and is %s", before, after)
			}
		})
	}
	asNobodyToo(t)
}

// workAmongRaces does all that the server does in a workspace.
func workAmongRaces(t *testing.T, backend sandbox.Backend, space workspaces.Workspace) {
	t.Helper()
	const runs, rounds = 10, 300
	for range runs {
		result, err := backend.Run(t.Context(), sandbox.Spec{
			Shell: "echo more than ten bytes", Workspace: space.Dir, Private: space.Private,
			Limits: sandbox.Limits{OutputBytes: 10},
		})
		if setup := new(sandbox.SetupError); err != nil && !errors.As(err, &setup) { // a run may find its workspace in a bad state
			t.Fatal(err)
		}
		expectInside(t, result.Artifacts)
	}
	for range rounds {
		if saved, err := scratch.Open(sandbox.Spec{Private: space.Private}); err == nil {
			if file, _, err := saved.Create("stdout"); err == nil {
				file.Close()
			}
			saved.Close()
		}
		found, err := artifact.Collect(space.Dir, new(artifact.Snapshot))
		if err != nil {
			t.Fatal(err)
		}
		expectInside(t, found.Changed)
	}
}

// expectInside expects that no artifact is what only is outside.
func expectInside(t *testing.T, artifacts []sandbox.Artifact) {
	t.Helper()
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(secret)))
	for _, a := range artifacts {
		if a.Digest == digest || strings.Contains(a.Path, "only-outside") {
			t.Fatalf("an artifact is from outside: %+v", a)
		}
	}
}

// race starts the program, which stop ends. It is started again where it was
// killed: a directory that cannot be looked into counts as one too many.
func race(t *testing.T, backend sandbox.Backend, space workspaces.Workspace, outside string) (stop func()) {
	t.Helper()
	skill := t.TempDir()
	copyOfThisTest(t, filepath.Join(skill, "swap"))
	name, _, _ := strings.Cut(t.Name(), "/")
	spec := sandbox.Spec{
		SkillDir: skill, Script: "swap", Args: []string{"-test.run=^" + name + "$"},
		Workspace: space.Dir, Private: space.Private,
		Env:    map[string]string{outsideVariable: outside},
		Limits: sandbox.Limits{MemoryBytes: 1 << 46}, // for the race detector
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			result, err := backend.Run(ctx, spec)
			if err != nil || result.Status != sandbox.QuotaExceeded && result.Status != sandbox.TimedOut {
				if _, removed := os.Lstat(space.Dir); ctx.Err() == nil && removed == nil {
					t.Errorf("the program ended as %q: %v; %s%s", result.Status, err, result.Stdout.Data, result.Stderr.Data)
				}
				return
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// swap is the program. It never ends.
func swap(outside string) {
	workspace := os.Getenv("WORKSPACE")
	private := filepath.Dir(os.Getenv("HOME"))
	swapped := map[string]string{ // what it pretends to have, by the link that it has instead
		filepath.Join(workspace, "to-dir"):  filepath.Join(workspace, "dir"),
		filepath.Join(workspace, "to-file"): filepath.Join(workspace, "file"),
		filepath.Join(private, "to-home"):   filepath.Join(private, scratch.Home),
	}
	for !prepare(workspace, private, outside, swapped) {
	}
	for {
		for link, pretended := range swapped {
			unix.Renameat2(unix.AT_FDCWD, link, unix.AT_FDCWD, pretended, unix.RENAME_EXCHANGE)
		}
	}
}

// prepare makes what is to be swapped. The program may have been here before,
// and been killed; and the server takes away a link that it finds in the place
// of its own directory, now too.
func prepare(workspace, private, outside string, swapped map[string]string) bool {
	for link, pretended := range swapped {
		os.RemoveAll(link)
		os.RemoveAll(pretended)
	}
	home := os.Mkdir(filepath.Join(private, scratch.Home), 0o700)
	if errors.Is(home, fs.ErrExist) {
		home = nil
	}
	return errors.Join(home,
		os.Mkdir(filepath.Join(workspace, "dir"), 0o700),
		os.WriteFile(filepath.Join(workspace, "file"), []byte("of the workspace"), 0o600),
		os.Symlink(outside, filepath.Join(workspace, "to-dir")),
		os.Symlink(filepath.Join(outside, "only-outside"), filepath.Join(workspace, "to-file")),
		os.Symlink(outside, filepath.Join(private, "to-home")),
	) == nil
}

// outside is a directory that no program may reach.
type outside struct{ dir, file string }

func newOutside(t *testing.T) outside {
	t.Helper()
	dir := t.TempDir()
	o := outside{dir: dir, file: filepath.Join(dir, "only-outside")}
	o.restore(t)
	return o
}

func (o outside) restore(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(o.dir)
	for _, entry := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(o.dir, entry.Name())))
	}
	if err := errors.Join(err, os.WriteFile(o.file, []byte(secret), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// describe returns all that could have been changed, and the time at which the
// secret was read last, where the file system tells.
func (o outside) describe(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(o.dir, func(name string, _ fs.DirEntry, err error) error {
		var stat unix.Stat_t
		if err := errors.Join(err, unix.Lstat(name, &stat)); err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s mode %o owner %d:%d links %d changed %v; ", name, stat.Mode, stat.Uid, stat.Gid, stat.Nlink, stat.Ctim)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// naive are the ways in which one would first write what a server does in a
// workspace. Each tells whether it was led astray.
var naive = map[string]func(workspace string, o outside) bool{
	"list": func(workspace string, o outside) bool {
		entries := listNaively(filepath.Join(workspace, "dir"))
		return len(entries) > 0 && entries[0].Name() == "only-outside"
	},
	"read": func(workspace string, o outside) bool {
		name := filepath.Join(workspace, "file")
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
			return false
		}
		content, _ := os.ReadFile(name)
		return string(content) == secret
	},
	"write": func(workspace string, o outside) bool {
		dir := filepath.Join(workspace, "dir")
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			return false
		}
		_ = os.WriteFile(filepath.Join(dir, "stdout.log"), nil, 0o600)
		_, err := os.Lstat(filepath.Join(o.dir, "stdout.log"))
		return err == nil
	},
	"own": func(workspace string, o outside) bool {
		for _, entry := range listNaively(filepath.Join(workspace, "dir")) {
			name := filepath.Join(workspace, "dir", entry.Name())
			_ = os.Chmod(name, 0o777)
			_ = os.Chown(name, nobody, nobody)
		}
		info, err := os.Lstat(o.file)
		return err == nil && info.Mode().Perm() == 0o777
	},
	"remove": func(workspace string, o outside) bool {
		for _, entry := range listNaively(filepath.Join(workspace, "dir")) {
			_ = os.Remove(filepath.Join(workspace, "dir", entry.Name()))
		}
		_, err := os.Lstat(o.file)
		return errors.Is(err, fs.ErrNotExist)
	},
}

// listNaively lists what it takes for a directory.
func listNaively(name string) []fs.DirEntry {
	if info, err := os.Lstat(name); err != nil || !info.IsDir() {
		return nil
	}
	entries, _ := os.ReadDir(name)
	return entries
}

// expectFall expects that a naive way is led astray before long.
func expectFall(t *testing.T, name string, fallen func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !fallen(); {
		if time.Now().After(deadline) {
			t.Fatalf("the race is not shown: the naive %s is never led astray", name)
		}
	}
}
