//go:build amd64 || arm64

package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// inProject returns a run in a directory of the user.
func inProject(t *testing.T, dir, shell string) sandbox.Spec {
	t.Helper()
	changes := filepath.Join(t.TempDir(), "changes")
	t.Cleanup(func() { tempdir.Remove(changes) })
	return sandbox.Spec{
		Shell: shell, Workspace: t.TempDir(), Project: true, InProject: true,
		Shares: []sandbox.Share{{Path: dir, Layers: []string{dir}, Access: sandbox.AccessReview, Changes: changes}},
	}
}

func run(t *testing.T, backend sandbox.Backend, spec sandbox.Spec) sandbox.Result {
	t.Helper()
	result, err := backend.Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// madeIn makes a directory of a test in a place of the machine, or skips the test.
func madeIn(t *testing.T, place string) string {
	t.Helper()
	dir, err := os.MkdirTemp(place, "skills-mcp-test-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A project may be anywhere: in a directory of which a run has one of its own,
// that is a link there, or that is mounted there already.
func TestSharesAnywhere(t *testing.T) {
	backend := opener(local.Full)(t)
	defer backend.Close()
	for _, place := range []string{"/tmp", "/var/tmp", "/home", "/usr/local/src", "/opt", "/srv", "/dev/shm"} {
		t.Run(place, func(t *testing.T) {
			dir := filepath.Join(madeIn(t, place), "project")
			testfiles.Write(t, filepath.Join(dir, "file"), "content")
			result := run(t, backend, inProject(t, dir, `cat file && cat "$PROJECT/file" && cd "$PROJECT" && echo more > new && cat new "$PROJECT/new"`))
			if place == "/dev/shm" { // devices are the sandbox's own
				if result.Shared[0].Access != sandbox.AccessOff || result.Shared[0].Reason == "" {
					t.Errorf("shared is %+v", result.Shared)
				}
				return
			}
			if out := string(result.Stdout.Data); out != "contentcontentmore\nmore\n" || result.Shared[0].Path != dir {
				t.Errorf("it reads %q: %s; %+v", out, result.Stderr.Data, result.Shared)
			}
		})
	}
}

// What would hide the sandbox's own files is not shown, and a run that is to start
// in it starts in the workspace.
func TestSharesInTheWay(t *testing.T) {
	backend := opener(local.Full)(t)
	defer backend.Close()
	for _, dir := range []string{"/usr", "/etc", "/var", "/proc", "/dev", "/usr/lib", "/tmp"} {
		spec := inProject(t, dir, `echo "${PROJECT-none}" && pwd`)
		spec.Shares[0].Access, spec.Shares[0].Changes = sandbox.AccessRead, ""
		result := run(t, backend, spec)
		if result.Shared[0].Access != sandbox.AccessOff && dir != "/usr/lib" && dir != "/tmp" {
			t.Errorf("%s is shared: %+v", dir, result.Shared)
		}
		if out := string(result.Stdout.Data); result.Shared[0].Access == sandbox.AccessOff && out != "none\n/workspace\n" {
			t.Errorf("%s: it says %q, %s", dir, out, result.Stderr.Data)
		}
	}
}

// Where what programs change cannot be kept by an overlay they read, and hear
// why; a run never fails for it.
func TestSharesWithoutUpper(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounts take root")
	}
	backend := opener(local.Full)(t)
	defer backend.Close()
	project, state := t.TempDir(), t.TempDir()
	testfiles.Write(t, filepath.Join(project, "file"), "content")
	mount(t, state, "ramfs", "") // which has no attributes
	spec := inProject(t, project, `cat file; echo x > new || pwd`)
	spec.Shares[0].Changes = filepath.Join(state, "changes")
	result := run(t, backend, spec)
	shared := result.Shared[0]
	if shared.Access != sandbox.AccessRead || shared.Path != project || shared.Reason == "" || strings.Contains(shared.Reason, "/") {
		t.Errorf("shared is %+v", shared)
	}
	if out := string(result.Stdout.Data); out != "content"+project+"\n" {
		t.Errorf("it says %q, %s", out, result.Stderr.Data)
	}
}

// Of another file system that is mounted in a project nothing is shown, and what
// it hides of the project neither changes nor appears.
func TestSharesWithMountsBelow(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounts take root")
	}
	backend := opener(local.Full)(t)
	defer backend.Close()
	project := t.TempDir()
	below := filepath.Join(project, "below")
	testfiles.Write(t, filepath.Join(project, "file"), "content")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	mount(t, below, "tmpfs", "")
	testfiles.Write(t, filepath.Join(below, "other"), "of another file system")
	result := run(t, backend, inProject(t, project, `cat file; ls below; echo x > below/new`))
	if out := string(result.Stdout.Data); out != "content" || result.Shared[0].Access != sandbox.AccessReview {
		t.Errorf("it says %q; %+v", out, result.Shared)
	}
	if left, err := os.ReadDir(below); err != nil || len(left) != 1 {
		t.Errorf("below are %v, %v", left, err)
	}
}

func mount(t *testing.T, dir, kind, options string) {
	t.Helper()
	if err := unix.Mount("test", dir, kind, 0, options); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
}

// What programs write for a server that is root belongs to who has the project,
// and files of others there can be read as by others, not changed.
func TestSharesOfOtherOwners(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("owners take root")
	}
	backend := opener(local.Full)(t)
	defer backend.Close()
	const owner, other = 1234, 1235
	project := t.TempDir()
	for name, uid := range map[string]int{"mine": owner, "theirs": other, "closed": other} {
		mode := os.FileMode(0o600)
		if name == "theirs" {
			mode = 0o666
		}
		file := filepath.Join(project, name)
		testfiles.Write(t, file, name+"\n")
		if err := errors.Join(os.Chmod(file, mode), os.Chown(file, uid, uid)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(project, owner, owner); err != nil {
		t.Fatal(err)
	}
	spec := inProject(t, project, `stat -c %u mine . && cat mine theirs; cat closed; echo more >> theirs; echo more >> mine; mkdir new; echo new > new/file; rm closed`)
	result := run(t, backend, spec)
	if out := string(result.Stdout.Data); out != "1000\n1000\nmine\ntheirs\n" {
		t.Errorf("it reads %q, %s", out, result.Stderr.Data)
	}
	if !strings.Contains(string(result.Stderr.Data), "theirs: Permission denied") {
		t.Errorf("of what cannot be written it says %q", result.Stderr.Data)
	}
	upper := filepath.Join(spec.Shares[0].Changes, sandbox.UpperDir)
	for _, name := range []string{"", "mine", "new", "new/file"} {
		var stat unix.Stat_t
		if err := unix.Lstat(filepath.Join(upper, name), &stat); err != nil || stat.Uid != owner || stat.Gid != owner {
			t.Errorf("%s: %v, owner %d:%d", name, err, stat.Uid, stat.Gid)
		}
	}
}

// In a project git commits in the name that the environment has, in each tier, and
// no configuration of the machine or of its users is known.
func TestSharesGitUser(t *testing.T) {
	for _, tier := range []local.Tier{local.Full, local.Restricted} {
		t.Run(string(tier), func(t *testing.T) {
			backend := opener(tier)(t)
			defer backend.Close()
			spec := inProject(t, t.TempDir(), `git init -q . && git commit -q --allow-empty -m x && git log --format='%an %ae %cn %ce'; git config --list --show-scope | grep -v '^local'`)
			spec.Env = map[string]string{
				"GIT_AUTHOR_NAME": "U", "GIT_AUTHOR_EMAIL": "u@example.com", "GIT_COMMITTER_NAME": "U", "GIT_COMMITTER_EMAIL": "u@example.com",
				"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
			}
			result := run(t, backend, spec)
			if want := "U u@example.com U u@example.com\ncommand\tsafe.directory=*\n"; string(result.Stdout.Data) != want {
				t.Errorf("git says %q, %s", result.Stdout.Data, result.Stderr.Data)
			}
		})
	}
}
