package docker

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// engineDir is the working directory of overlays, in that of changes. It is not
// [sandbox.WorkDir], which belongs to the run that is: an overlay can be mounted
// before.
const engineDir = "engine"

// overlay is a share that the engine mounts in a container.
type overlay struct {
	target string
	layers []string
	// changes is the directory of what programs change, or empty where they can
	// only read.
	changes string
	// user is who runs programs, as "uid:gid", whatever the owner is.
	user string
}

// overlaysOf returns those of a run.
func overlaysOf(shares []sandbox.Share, by sharing, user string) (overlays []overlay) {
	for i, share := range shares {
		if by.way == byCopy || !by.shown(i) {
			continue
		}
		o := overlay{target: share.Path, layers: share.Layers, user: user}
		if by.shared[i].Access == sandbox.AccessReview {
			o.changes = share.Changes
		}
		overlays = append(overlays, o)
	}
	return overlays
}

// dirs are the directories of which it is made.
func (o overlay) dirs() []string {
	if o.changes == "" {
		return o.layers
	}
	return append([]string{filepath.Join(o.changes, sandbox.UpperDir), filepath.Join(o.changes, engineDir)}, o.layers...)
}

// errNoOverlay means that no overlay of the shares can be mounted.
var errNoOverlay = errors.New("no overlay of what is shared can be mounted")

// changesOf returns the directories of changes in overlays.
func (of template) changes() (dirs []string) {
	for _, o := range of.overlays {
		if o.changes != "" {
			dirs = append(dirs, o.changes)
		}
	}
	return dirs
}

// use remembers that changes of a template were mounted.
func (b *Backend) use(of template) {
	b.overlays.usedMu.Lock()
	defer b.overlays.usedMu.Unlock()
	if b.overlays.used == nil {
		b.overlays.used = make(map[string]template)
	}
	for _, changes := range of.changes() {
		b.overlays.used[changes] = of
	}
}

// tidyChanges removes what the kernel has left in the directories of changes once
// nothing is mounted any more. It is root's: what cannot be removed by another
// user the kernel removes itself when it mounts them again.
func (b *Backend) tidyChanges(ctx context.Context) {
	for _, of := range b.overlays.used {
		for _, dir := range of.kernelDirs() {
			err := os.Remove(dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				var c *container
				if c, err = b.start(ctx, of); err == nil {
					c.end()
					err = os.Remove(dir)
				}
			}
			if err == nil {
				err = os.Remove(filepath.Dir(dir))
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				b.log.Debug("what the kernel has left in a directory of changes cannot be removed", "error", err)
			}
		}
	}
}

// kernelDirs are those that the kernel makes for itself when overlays are
// mounted. Without them nothing can be changed, and each mount makes new ones.
func (of template) kernelDirs() (dirs []string) {
	for _, changes := range of.changes() {
		dirs = append(dirs, filepath.Join(changes, engineDir, "work"))
	}
	return dirs
}
