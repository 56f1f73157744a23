//go:build amd64 || arm64

package local_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// A program that fills the disk with files that are in no directory is ended
// as one that fills its workspace.
func TestDiskIsNotFilledByRemovedFiles(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=100m"); err != nil {
		t.Skipf("only root can make a small disk: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	backend := opener(local.Full)(t)
	defer backend.Close()
	result, err := backend.Run(t.Context(), sandbox.Spec{
		Shell:     `exec 3> file; rm file; dd if=/dev/zero bs=1M count=200 >&3; while :; do sleep 1; done`,
		Workspace: dir,
		Limits:    sandbox.Limits{WorkspaceBytes: 10 << 20},
	})
	if err != nil || result.Status != sandbox.QuotaExceeded {
		t.Errorf("ended as %q, %v; stderr %q", result.Status, err, result.Stderr.Data)
	}
}
