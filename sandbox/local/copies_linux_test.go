//go:build amd64 || arm64

package local_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// stacked mounts overlays over each other, as many as the kernel takes: on the
// uppermost it mounts no other.
func stacked(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	base := testfiles.Dir(t, nil)
	dir = filepath.Join(base, "0")
	testfiles.Fill(t, dir, files)
	for i := 1; ; i++ {
		next, empty := filepath.Join(base, fmt.Sprint(i)), filepath.Join(base, fmt.Sprint("empty", i))
		if err := errors.Join(os.Mkdir(next, 0o755), os.Mkdir(empty, 0o755)); err != nil {
			t.Fatal(err)
		}
		err := unix.Mount("overlay", next, "overlay", 0, "userxattr,lowerdir="+dir+":"+empty)
		switch {
		case err == nil:
			t.Cleanup(func() { unix.Unmount(next, unix.MNT_DETACH) })
			dir = next
		case i == 1:
			t.Skip(err)
		default:
			return dir
		}
	}
}

// What the kernel can show by no overlay is shown by a copy in its place, in the
// first run as in the next, and beside shares that it can show.
func TestSharesThatCannotBeMounted(t *testing.T) {
	const inside = "LOCAL_TEST_MOUNTS"
	if os.Getenv(inside) == "" {
		again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		again.Env = append(os.Environ(), inside+"=1")
		again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
		if os.Geteuid() != 0 {
			again.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
			again.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
			again.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
		}
		out, err := again.CombinedOutput()
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) || strings.Contains(string(out), "\n--- SKIP") {
			t.Skipf("needs namespaces and overlays: %v: %s", err, out)
		}
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skip(err)
	}
	backend := opener(local.Full)(t)
	defer backend.Close()
	dir, other := stacked(t, map[string]string{"file": "first\n", "dir/below": "below\n"}), testfiles.Dir(t, map[string]string{"other": "other\n"})
	spec := sandbox.Spec{
		Workspace: t.TempDir(), Private: t.TempDir(), Project: true, InProject: true, Env: map[string]string{"OTHER": other},
		Shares: []sandbox.Share{
			{Path: dir, Layers: []string{dir}, Access: sandbox.AccessReview, Changes: t.TempDir()},
			{Path: other, Layers: []string{other}, Access: sandbox.AccessRead},
		},
	}
	for _, run := range [][2]string{
		{`pwd; cat file "$OTHER/other"; echo second > file; rm -r dir; ! : > "$OTHER/new"`, dir + "\nfirst\nother\n"},
		{`cat file; ls`, "second\nfile\n"},
	} {
		spec.Shell = run[0]
		result, err := backend.Run(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if out := string(result.Stdout.Data); out != run[1] || result.ExitCode != 0 {
			t.Errorf("%s: %q, want %q; %d, %s", run[0], out, run[1], result.ExitCode, result.Stderr.Data)
		}
		if shared := result.Shared[0]; shared.Access != sandbox.AccessReview || shared.Path != dir || !strings.Contains(shared.Reason, "private copy") {
			t.Errorf("shared is %+v", shared)
		}
	}
	if content, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(content) != "first\n" {
		t.Errorf("the user's own is %q, %v", content, err)
	}
}
