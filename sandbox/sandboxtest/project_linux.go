package sandboxtest

import (
	"context"
	"errors"
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
)

// project is a directory of a user, which programs see.
type project struct {
	dir  string
	mask string // the server's layer above it, or empty
	// changes, workspace and private are the same in all of its runs.
	changes, workspace, private string
	before                      state // nil before the first run
}

// newProject makes a project of files, by slash-separated path.
func newProject(t *testing.T, files map[string]string) *project {
	t.Helper()
	p := projectIn(t, filepath.Join(t.TempDir(), "project"))
	testfiles.Fill(t, p.dir, files)
	return p
}

// projectIn makes an empty project of that path.
func projectIn(t *testing.T, dir string) *project {
	t.Helper()
	p := &project{dir: dir, changes: changesDir(t), workspace: t.TempDir(), private: t.TempDir()}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

// changesDir returns a directory for changes, in which there may be others that
// not even their owner may enter.
func changesDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "changes")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tempdir.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// hide puts a whiteout over a file or directory, as the server does, and replace
// other content.
func (p *project) hide(t *testing.T, name string) {
	t.Helper()
	if err := unix.Mknod(p.masked(t, name), unix.S_IFCHR, 0); err != nil {
		t.Fatal(err)
	}
}

func (p *project) replace(t *testing.T, name, content string) {
	t.Helper()
	testfiles.Write(t, p.masked(t, name), content)
}

func (p *project) masked(t *testing.T, name string) string {
	t.Helper()
	if p.mask == "" {
		p.mask = t.TempDir()
	}
	file := filepath.Join(p.mask, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// share returns the project as a share.
func (p *project) share(access sandbox.Access) sandbox.Share {
	share := sandbox.Share{Path: p.dir, Layers: []string{p.dir}, Access: access, Changes: p.changes}
	if p.mask != "" {
		share.Layers = slices.Insert(share.Layers, 0, p.mask)
	}
	return share
}

// spec returns a run of a shell program in the project.
func (p *project) spec(access sandbox.Access, shell string) sandbox.Spec {
	return sandbox.Spec{
		Shell: shell, Shares: []sandbox.Share{p.share(access)}, Project: true, InProject: true,
		Workspace: p.workspace, Private: p.private,
	}
}

// run runs a spec of [project.spec], and expects that the access was what it asks
// for and that nothing of the user's has changed.
func (p *project) run(t *testing.T, f *fixture, spec sandbox.Spec) sandbox.Result {
	t.Helper()
	return p.runContext(t.Context(), t, f, spec)
}

func (p *project) runContext(ctx context.Context, t *testing.T, f *fixture, spec sandbox.Spec) sandbox.Result {
	t.Helper()
	if p.before == nil {
		p.before = stateOf(t, p.dir)
	}
	result := f.runContext(ctx, t, spec)
	p.before.expectSame(t, p.dir)
	if len(result.Shared) != len(spec.Shares) {
		t.Fatalf("Shared = %+v", result.Shared)
	}
	for i, share := range spec.Shares {
		f.expectShared(t, share, result.Shared[i])
	}
	return result
}

// expectShared expects that a share was what it was to be, at its own path or
// with a reason.
func (f *fixture) expectShared(t *testing.T, share sandbox.Share, got sandbox.Shared) {
	t.Helper()
	if got.Access != share.Access || got.Path != share.Path && !f.shares.Elsewhere {
		t.Errorf("shared is %+v, want %s at %q", got, share.Access, share.Path)
	}
	if strings.Contains(got.Reason, share.Changes) || f.shares.Elsewhere && got.Reason == "" {
		t.Errorf("the reason is %q", got.Reason)
	}
}

// succeed runs a shell program that exits with 0 and returns its output.
func (p *project) succeed(t *testing.T, f *fixture, access sandbox.Access, shell string) string {
	t.Helper()
	result := p.run(t, f, p.spec(access, shell))
	expectExit(t, result, 0)
	return string(result.Stdout.Data)
}

// upper is where what programs changed has that name.
func (p *project) upper(name string) string { return filepath.Join(p.changes, sandbox.UpperDir, name) }

// held returns what is in the upper directory, by path: "file" and its content,
// "directory", "opaque", "whiteout", "link" and its target, or "special".
func (p *project) held(t *testing.T) map[string]string {
	t.Helper()
	found, root := make(map[string]string), p.upper("")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && path != root {
			found[strings.TrimPrefix(path, root+"/")], err = kindOf(path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return found
}

func kindOf(path string) (string, error) {
	var stat unix.Stat_t
	if err := unix.Lstat(path, &stat); err != nil {
		return "", err
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		content, err := os.ReadFile(path)
		return "file " + string(content), err
	case unix.S_IFLNK:
		target, err := os.Readlink(path)
		return "link " + target, err
	case unix.S_IFDIR:
		value := make([]byte, 1)
		if n, err := unix.Lgetxattr(path, "user.overlay.opaque", value); err == nil && string(value[:n]) == "y" {
			return "opaque", nil
		}
		return "directory", nil
	case unix.S_IFCHR:
		if stat.Rdev == 0 {
			return "whiteout", nil
		}
	}
	return "special", nil
}
