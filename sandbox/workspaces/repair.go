package workspaces

import (
	"fmt"
	"os"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/disk"
)

// repairBase makes the directory of all workspaces usable, which programs with
// the server's user and file system can reach.
func (w *Store) repairBase() {
	if restored, err := disk.RestoreMode(w.base); restored {
		w.log.Warn("a program took away the mode of the directory of all workspaces, which has it again", "error", err)
	}
}

// repair makes a workspace usable: what a program did to its directory itself
// must cost no more than what was in it.
func (w *Store) repair(workspace Workspace) error {
	for _, dir := range []string{workspace.Dir, workspace.Private} {
		restored, err := disk.RestoreMode(dir)
		if restored {
			w.log.Warn("a program took away the mode of its workspace, which has it again", "error", err)
		}
		if info, lstatErr := os.Lstat(dir); err == nil && lstatErr == nil && info.IsDir() {
			continue
		}
		w.log.Warn("a program made its workspace unusable, which is replaced by an empty one", "error", err)
		_ = tempdir.Remove(dir) // where there is something
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("replace a workspace: %w", err)
		}
	}
	return nil
}
