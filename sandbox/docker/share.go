package docker

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

// systemDirs are where containers have what is not the user's: nothing can be
// shown there, nor above.
var systemDirs = []string{
	"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys", "/usr",
	protocol.SkillDir, protocol.Workspace, protocol.Private,
}

// userDirs are those among them that people have projects in.
var userDirs = []string{"/usr/local/src", "/usr/src"}

// topDirs can have shares in them, and cannot be shares.
var topDirs = []string{"/home", "/opt", "/root", "/tmp", "/var"}

// unshowable returns why a directory cannot be shown at its own path in a
// container, or an empty string.
func unshowable(dir string) string {
	within := func(of string) bool { return strings.HasPrefix(dir, of+"/") }
	above := func(of string) bool { return dir == of || dir == "/" || strings.HasPrefix(of, dir+"/") }
	switch {
	case !utf8.ValidString(dir):
		return "Its path is not UTF-8, which the engine does not take."
	case slices.ContainsFunc(userDirs, within):
		return ""
	case slices.ContainsFunc(systemDirs, within), slices.ContainsFunc(systemDirs, above), slices.Contains(topDirs, dir):
		return "At its path containers have directories of their own."
	}
	return ""
}

// way is how shares are shown.
type way int

// The ways, the best first.
const (
	byOverlay way = iota // which the engine mounts
	byNone
)

// sharing says what becomes of the shares of a run.
type sharing struct {
	way    way
	shared []sandbox.Shared
}

// shareBy returns what becomes of the shares of a run where they are shown in a
// way; reason says why it is not a better one.
func shareBy(by way, shares []sandbox.Share, reason string) sharing {
	s := sharing{way: by}
	for _, share := range shares {
		s.shared = append(s.shared, sharedBy(by, share, reason))
	}
	return s
}

func sharedBy(by way, share sandbox.Share, reason string) sandbox.Shared {
	off := sandbox.Shared{Access: sandbox.AccessOff}
	if off.Reason = unshowable(share.Path); off.Reason != "" {
		return off
	}
	if by == byNone {
		off.Reason = reason
		return off
	}
	return sandbox.Shared{Path: share.Path, Access: share.Access, Reason: reason}
}

// shown returns whether a share of that number is shown.
func (s sharing) shown(i int) bool { return s.shared[i].Access != sandbox.AccessOff }

// project is where programs see the project, or empty.
func (s sharing) project(spec sandbox.Spec) string {
	if !spec.Project || !s.shown(0) {
		return ""
	}
	return s.shared[0].Path
}

// paths are where programs see shares.
func (s sharing) paths() (paths []string) {
	for i := range s.shared {
		if s.shown(i) {
			paths = append(paths, s.shared[i].Path)
		}
	}
	return paths
}
