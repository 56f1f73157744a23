//go:build amd64 || arm64

package local_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// The programs of a server that is root are those of an ordinary user, whose
// own the workspace is, in every tier.
func TestProgramsOfRootAreNobodys(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root")
	}
	for _, tier := range []local.Tier{local.Full, local.Restricted} {
		backend := opener(tier)(t)
		defer backend.Close()
		if strings.Contains(backend.Info().Notice, filesOfServer) {
			t.Errorf("%s: %s", tier, backend.Info().Notice)
		}
		// As those of workspaces and copies are.
		private, err := os.MkdirTemp("", "private-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(private)
		spec := sandbox.Spec{
			SkillDir: filepath.Join(private, "skill"), Workspace: filepath.Join(private, "workspace"),
			Script: "script", Args: []string{"dir/file", "new"},
		}
		writeFile(t, filepath.Join(spec.SkillDir, "script"), "#!/bin/sh\nid -u; id -G; echo more >> \"$1\"; echo > \"$2\"; tee /dev/stderr < \"$1\"\n", 0o755)
		writeFile(t, filepath.Join(spec.Workspace, "dir/file"), "", 0o600)
		groups := map[local.Tier]string{local.Full: "1000\n1000\n", local.Restricted: "65534\n65534\n"}[tier]
		if got := say(t, backend, spec); got != groups+"more\n" {
			t.Errorf("%s: the program says %q", tier, got)
		}
		var stat unix.Stat_t
		if err := unix.Stat(filepath.Join(spec.Workspace, "new"), &stat); err != nil || tier == local.Restricted && stat.Uid != nobody {
			t.Errorf("%s: the new file is of user %d, %v", tier, stat.Uid, err)
		}
	}
}

// Where root may not be anybody else, or nobody may not go to the workspaces,
// programs are the server's user, and it is said.
func TestProgramsOfRootThatIsNoOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root")
	}
	const variable = "LOCAL_TEST_ONLY_ROOT"
	if os.Getenv(variable) != "" {
		backend := opener(local.Restricted)(t)
		defer backend.Close()
		fmt.Printf("user %s%s\n", say(t, backend, sandbox.Spec{Shell: "id -u"}), backend.Info().Notice)
		return
	}
	temporary := filepath.Join(t.TempDir(), "temporary") // below one that is root's alone
	if err := os.Mkdir(temporary, 0o700); err != nil {
		t.Fatal(err)
	}
	one := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}}
	for name, again := range map[string]*exec.Cmd{
		"no other user": {SysProcAttr: &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, UidMappings: one, GidMappings: one}},
		"no way":        {Env: []string{"TMPDIR=" + temporary}},
	} {
		again.Path, again.Args = "/proc/self/exe", []string{"again", "-test.run=^" + t.Name() + "$"}
		again.Env = append(append(os.Environ(), variable+"=1"), again.Env...)
		out, err := again.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "user 0\n") || !strings.Contains(string(out), filesOfServer) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
