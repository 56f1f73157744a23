package docker

import (
	"io/fs"
	"os"
	"path/filepath"
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
	byReading            // an overlay in which nothing can be changed
	byNone
)

// sharing says what becomes of the shares of a run.
type sharing struct {
	way    way
	shares []sandbox.Share // as they were given
	shared []sandbox.Shared
}

// shareBy returns what becomes of shares where they are shown in a way; reason
// says why it is not a better one.
func shareBy(by way, shares []sandbox.Share, reason string) sharing {
	s := sharing{way: by, shares: shares}
	for _, share := range shares {
		s.shared = append(s.shared, sharedBy(by, share, reason))
	}
	return s
}

func sharedBy(by way, share sandbox.Share, reason string) sandbox.Shared {
	access := share.Access
	switch own := unshowable(share.Path); {
	case access == sandbox.AccessOff: // for a reason that is known
	case own != "":
		access, reason = sandbox.AccessOff, own
	case by == byNone:
		access = sandbox.AccessOff
	case by == byReading && access == sandbox.AccessReview:
		access = sandbox.AccessRead
	case by == byReading:
		reason = ""
	}
	if access == sandbox.AccessOff {
		return sandbox.Shared{Access: access, Reason: reason}
	}
	return sandbox.Shared{Path: share.Path, Access: access, Reason: reason}
}

// shown reports whether a share of that number is shown.
func (s sharing) shown(i int) bool {
	return i < len(s.shared) && s.shared[i].Access != sandbox.AccessOff
}

// project is where programs see the project, or empty.
func (s sharing) project(spec sandbox.Spec) string {
	if !spec.Project || !s.shown(0) {
		return ""
	}
	return s.shared[0].Path
}

// has reports whether a program is in what is shared, by its absolute path, and
// within whether it would have to be. What links lead to is found out when it is
// started.
func (s sharing) has(program string) (has, within bool) {
	for i, share := range s.shares {
		rest, within := strings.CutPrefix(program, share.Path+"/")
		if !within || !s.shown(i) {
			continue
		}
		layers := share.Layers
		if s.shared[i].Access == sandbox.AccessReview {
			layers = append([]string{filepath.Join(share.Changes, sandbox.UpperDir)}, layers...)
		}
		return inLayers(layers, rest), true
	}
	return false, false
}

// inLayers reports whether the uppermost layer that has a name, or a directory of
// it, has something there that can be a program.
func inLayers(layers []string, name string) bool {
	for _, layer := range layers {
		for end := range len(name) + 1 {
			if end < len(name) && name[end] != '/' {
				continue
			}
			info, err := os.Lstat(filepath.Join(layer, name[:end]))
			if err != nil {
				break // or in a layer below
			}
			if end == len(name) || !info.IsDir() {
				return info.Mode()&fs.ModeDevice == 0
			}
		}
	}
	return false
}
