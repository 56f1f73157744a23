//go:build amd64 || arm64

package local

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// maxLinks is how many links Linux follows in one path.
const maxLinks = 40

// follow returns the real path of an absolute one, and the links on the way,
// each at its own real path.
func follow(name string) (real string, links []jail.Link, err error) {
	real = "/"
	for rest := name; rest != ""; {
		var next string
		next, rest, _ = strings.Cut(strings.TrimLeft(rest, "/"), "/")
		at := filepath.Join(real, next) // "." and ".." too: real has no links
		info, err := os.Lstat(at)
		if err != nil {
			return "", nil, err
		}
		if info.Mode()&os.ModeSymlink == 0 {
			real = at
			continue
		}
		target, err := os.Readlink(at)
		if err == nil && len(links) == maxLinks {
			err = unix.ELOOP
		}
		if err != nil {
			return "", nil, err
		}
		links = append(links, jail.Link{Path: at, Target: target})
		if filepath.IsAbs(target) {
			real = "/"
		}
		rest = target + "/" + rest
	}
	return real, links, nil
}
