// Package statedir says where this program keeps what outlives it.
package statedir

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Path returns the directory of a name in the user's state directory, or that
// directory for no name: below $XDG_STATE_HOME, or where that is not set or no
// absolute path ~/.local/state (XDG Base Directory Specification), and on Windows
// %LocalAppData%. It need not be there.
func Path(name string) (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		var err error
		if base, err = usual(); err != nil {
			return "", fmt.Errorf("state directory: %w", err)
		}
	}
	return filepath.Join(base, "skills-mcp", name), nil
}

// usual returns the state directory of users who have named none.
func usual() (string, error) {
	if runtime.GOOS == "windows" {
		return os.UserCacheDir() // which is where Windows keeps state too
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "state"), nil
}
