package docker

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
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
// container, without a full stop, or an empty string. Binds reports what the
// engine can.
func unshowable(dir string, binds func(target string) bool) string {
	within := func(of string) bool { return strings.HasPrefix(dir, of+"/") }
	above := func(of string) bool { return dir == of || dir == "/" || strings.HasPrefix(of, dir+"/") }
	switch {
	case !binds(dir):
		return "The engine takes no path of such bytes"
	case slices.ContainsFunc(userDirs, within):
		return ""
	case slices.ContainsFunc(systemDirs, within), slices.ContainsFunc(systemDirs, above), slices.Contains(topDirs, dir):
		return "At its path containers have directories of their own"
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
	byCopy // that the runner has made, and that nothing comes after
)

// sharing says what becomes of the shares of a run.
type sharing struct {
	way way
	// covered reports that directories of [sandbox.Spec.Show] and Library are shown
	// by overlays.
	covered bool
	shares  []sandbox.Share // as they were given
	shared  []sandbox.Shared
}

// shareBy returns what becomes of shares where they are shown in a way; reason
// says why it is not a better one.
func (b *Backend) shareBy(by way, shares []sandbox.Share, reason string) sharing {
	s := sharing{way: by, shares: shares}
	for _, share := range shares {
		s.shared = append(s.shared, sharedBy(by, share, unshowable(share.Path, b.engine.Binds), reason))
	}
	return s
}

// sharedBy returns what becomes of a share; own says why it cannot be shown in
// any way, if it cannot.
func sharedBy(by way, share sandbox.Share, own, reason string) sandbox.Shared {
	access := share.Access
	switch {
	case access == sandbox.AccessOff: // for a reason that is known
	case own != "":
		access, reason = sandbox.AccessOff, own+"."
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

// sharingOf returns what becomes of the shares of a run.
func (b *Backend) sharingOf(ctx context.Context, spec sandbox.Spec) sharing {
	if b.needsCopies(ctx, spec) {
		return b.shareBy(byCopy, spec.Shares, "")
	}
	return b.shareBy(byOverlay, spec.Shares, "")
}

// needsCopies reports whether the shares of a run are shown as copies.
func (b *Backend) needsCopies(ctx context.Context, spec sandbox.Spec) bool {
	return len(spec.Shares) > 0 && !b.mountsOverlays(ctx)
}

// copies is how the runner makes those.
func (b *Backend) copies() process.Copies {
	how := process.Copies{
		InTheirPlace: true, Needed: b.needsCopies,
		Refuse: func(share sandbox.Share) string { return unshowable(share.Path, b.engine.Binds) },
	}
	if os.Geteuid() == 0 {
		how.User = protocol.User
	}
	if b.copying {
		how.Bound = treeBounds
		how.TooLarge = ", and the engine shares no directories with this machine"
	}
	return how
}

// pageBytes is what a file takes at least in a file system in memory.
const pageBytes = 4 << 10

// treeBounds are those of each of a run's copies in a container, where they are in
// memory: half of it for their bytes, and half for what is left of their pages.
func treeBounds(spec sandbox.Spec) (entries int, bytes int64) {
	trees := len(spec.Shares) + len(libraryOf(spec))
	bytes = engine.TreesBytes(spec.Limits.MemoryBytes) / int64(trees) / 2
	return int(bytes / pageBytes), bytes
}

// shown reports whether a share of that number is shown.
func (s sharing) shown(i int) bool {
	return i < len(s.shared) && s.shared[i].Access != sandbox.AccessOff
}

// trees are where programs see copies that they can read, and that they can write.
func (s sharing) trees() (read, write []string) {
	for _, shared := range s.shared {
		switch shared.Access {
		case sandbox.AccessRead:
			read = append(read, shared.Path)
		case sandbox.AccessReview:
			write = append(write, shared.Path)
		}
	}
	return read, write
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

// copiesOf returns the directories of copies of shares.
func copiesOf(by sharing) (binds []engine.Bind) {
	for i, share := range by.shares {
		if by.way == byCopy && by.shown(i) {
			binds = append(binds, engine.Bind{Source: share.Layers[0], Target: share.Path, ReadOnly: by.shared[i].Access == sandbox.AccessRead})
		}
	}
	return binds
}
