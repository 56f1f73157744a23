package sandbox

import (
	"fmt"
	"os"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
)

// RestoreMode gives the owner of a directory the use of it again where a
// program took that away from all, and reports whether it did.
func RestoreMode(dir string) (restored bool, err error) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode()&0o700 == 0o700 {
		return false, err
	}
	return true, os.Chmod(dir, info.Mode().Perm()|0o700)
}

// repairBase makes the directory of all workspaces usable, which programs with
// the server's user and file system can reach.
func (w *Workspaces) repairBase() {
	if restored, err := RestoreMode(w.base); restored {
		w.log.Warn("a program took away the mode of the directory of all workspaces, which has it again", "error", err)
	}
}

// repair makes a workspace usable: what a program did to its directory itself
// must cost no more than what was in it.
func (w *Workspaces) repair(workspace Workspace) error {
	for _, dir := range []string{workspace.Dir, workspace.Private} {
		restored, err := RestoreMode(dir)
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
