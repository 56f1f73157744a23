// Package statedir says where this program keeps what outlives it.
package statedir

import (
	"fmt"
	"os"
	"path/filepath"
)

// Path returns the directory of a name in the user's state directory:
// $XDG_STATE_HOME, or ~/.local/state where that is not set or no absolute path
// (XDG Base Directory Specification). It need not be there.
func Path(name string) (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("state directory: %w", err)
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "skills-mcp", name), nil
}
