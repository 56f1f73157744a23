package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/disk"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/layers"
)

const (
	// copiesPrefix begins the name of the directory of a runner's copies.
	copiesPrefix = "skills-mcp-copies-"
	// maxKept is how many copies are kept for the next run, which then copies
	// only what is new.
	maxKept = 4
)

// Copies is how a backend that mounts no overlays shows shares: as private copies
// of what is in them, of which the changes are stored once the run is over.
type Copies struct {
	// User is whose they are, where the server is root. If zero, they are the
	// server's own.
	User int
	// InPlace reports whether programs of the backend can read a share where it
	// is, for one that is too large to be copied; the spec has it with its own
	// path and layers then. If nil, none can.
	InPlace func(sandbox.Share) bool
	// InTheirPlace has programs see a copy at the path of the share.
	InTheirPlace bool
	// Needed reports whether a run shows its shares so; if nil, each does.
	Needed func(ctx context.Context, spec sandbox.Spec) bool
	// Refuse returns the reason for which a share is not shown at all, a sentence
	// without its full stop, or an empty string. If nil, none is refused.
	Refuse func(sandbox.Share) string
	// Bound returns how many directories, files and links, and how many bytes, the
	// copies of a run may have, each. If nil, the bounds are those of package
	// layers.
	Bound func(sandbox.Spec) (entries int, bytes int64)
	// TooLarge ends the reason for which a share is off that is too large. If
	// empty, nothing is added.
	TooLarge string
}

// ShowCopies has the runner give programs copies of shares. In the spec that the
// backend gets, the path of a share is where the program is to see it, and its
// only layer is the copy.
func (r *Runner) ShowCopies(how Copies) { r.copies = &copies{Copies: how, log: r.log.Warn} }

// ErrShowCopies is what a [Start] returns that cannot show the shares that it was
// given: the runner starts again with copies of them, for which Needed must say
// so by now.
var ErrShowCopies = errors.New("shares cannot be shown but as copies")

// IsCopy reports whether a share of the spec that a backend gets is a copy.
func (r *Runner) IsCopy(share sandbox.Share) bool {
	return r.copies != nil && r.copies.has(share.Layers[0])
}

// showCopies puts copies in the place of a spec's shares, if that is how the
// backend shows them. The error is that of ctx.
func (r *Runner) showCopies(ctx context.Context, spec *sandbox.Spec) (*shownCopies, error) {
	if r.copies == nil || len(spec.Shares) == 0 || r.copies.Needed != nil && !r.copies.Needed(ctx, *spec) {
		return nil, nil
	}
	return r.copies.show(ctx, spec)
}

// copiesOf returns the directories of the copies of shares.
func (r *Runner) copiesOf(spec sandbox.Spec) (dirs []string) {
	for _, share := range spec.Shares {
		if r.IsCopy(share) {
			dirs = append(dirs, share.Layers[0])
		}
	}
	return dirs
}

// copies are those of a runner.
type copies struct {
	Copies
	log func(message string, args ...any)

	mu   sync.Mutex
	base *tempdir.Dir // nil before the first
	kept []*copied    // that no run uses, the oldest first
}

// copied is one copy.
type copied struct {
	of    copyKey
	above string // the directory that it is alone in
	dir   string
	made  *layers.Manifest
}

// copyKey is what a copy may be used again for.
type copyKey struct{ private, path, changes string }

// close removes all copies.
func (c *copies) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = nil
	if c.base == nil {
		return nil
	}
	err := c.base.Close()
	c.base = nil
	return err
}

// forget removes the copies of runs with a private directory, which will not come
// again.
func (c *copies) forget(private string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = slices.DeleteFunc(c.kept, func(kept *copied) bool {
		if kept.of.private == private {
			c.remove(kept)
		}
		return kept.of.private == private
	})
}

// has reports whether a directory is one of the copies.
func (c *copies) has(dir string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base != nil && pathname.Within(dir, c.base.Path())
}

// take returns a copy of an earlier run, or an empty one.
func (c *copies) take(of copyKey) (*copied, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, kept := range c.kept {
		if kept.of == of {
			c.kept = append(c.kept[:i:i], c.kept[i+1:]...)
			return kept, nil
		}
	}
	if c.base == nil {
		var err error
		if c.base, err = tempdir.New("", copiesPrefix); err != nil {
			return nil, err
		}
	}
	above := filepath.Join(c.base.Path(), rand.Text())
	made := &copied{of: of, above: above, dir: filepath.Join(above, filepath.Base(of.path))}
	return made, errors.Join(os.Mkdir(made.above, 0o700), os.Mkdir(made.dir, 0o700))
}

// leave keeps a copy for the next run, or removes it.
func (c *copies) leave(made *copied, keep bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !keep || c.base == nil {
		c.remove(made)
		return
	}
	if c.kept = append(c.kept, made); len(c.kept) > maxKept {
		c.remove(c.kept[0])
		c.kept = c.kept[1:]
	}
}

func (c *copies) remove(made *copied) {
	if err := tempdir.Remove(made.above); err != nil && !errors.Is(err, os.ErrNotExist) {
		c.log("a copy of a directory of the user cannot be removed", "error", err)
	}
}

// shownCopies are the shares of one run.
type shownCopies struct {
	*copies
	shares []sandbox.Share // as they were asked for
	copied []*copied       // nil for a share of which there is no copy
	shared []sandbox.Shared
}

// show copies the shares of a spec, and puts the copies in their place. The
// error is that of ctx.
func (c *copies) show(ctx context.Context, spec *sandbox.Spec) (*shownCopies, error) {
	s := &shownCopies{copies: c, shares: spec.Shares}
	bounds := layers.Options{User: c.User}
	if c.Bound != nil {
		bounds.Entries, bounds.Bytes = c.Bound(*spec)
	}
	spec.Shares = nil
	for _, share := range s.shares {
		shown := share
		var made *copied
		became := sandbox.Shared{Access: sandbox.AccessOff}
		if share.Access != sandbox.AccessOff {
			shown, became, made = c.showOne(ctx, share, spec.Private, bounds)
		}
		spec.Shares = append(spec.Shares, shown)
		s.copied, s.shared = append(s.copied, made), append(s.shared, became)
		if err := ctx.Err(); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// showOne copies a share, or finds another way to show it.
func (c *copies) showOne(ctx context.Context, share sandbox.Share, private string, bounds layers.Options) (shown sandbox.Share, became sandbox.Shared, made *copied) {
	if c.Refuse != nil {
		if reason := c.Refuse(share); reason != "" {
			share.Access = sandbox.AccessOff
			return share, sandbox.Shared{Access: sandbox.AccessOff, Reason: reason + "."}, nil
		}
	}
	made, err := c.copy(ctx, share, private, bounds)
	reason := "It is a private copy, since this sandbox cannot mount overlays"
	if errors.Is(err, layers.ErrNoChanges) {
		c.log("changes to a directory of the user cannot be kept", "error", err)
		share.Access = sandbox.AccessRead
		made, err = c.copy(ctx, share, private, bounds)
		reason = "It is a private copy, and there is no place to keep what programs change"
	}
	shown = share
	switch {
	case err == nil:
		shown.Layers = []string{made.dir}
		if !c.InTheirPlace {
			shown.Path = made.dir
		}
		if omitted := made.made.Omitted(); omitted > 0 {
			reason += fmt.Sprintf("; %d files or directories that cannot be copied are missing in it", omitted)
		}
	case errors.Is(err, layers.ErrTooLarge) && c.InPlace != nil && c.InPlace(share):
		shown.Access = sandbox.AccessRead
		reason = "It is " + err.Error() + ", and so is read where it is, without changes that are held; what is hidden in part cannot be opened"
	case errors.Is(err, layers.ErrTooLarge):
		shown.Access, reason = sandbox.AccessOff, "It is "+err.Error()+c.TooLarge
	case errors.Is(err, errors.ErrUnsupported):
		shown.Access, reason = sandbox.AccessOff, "Directories of the user are shown to programs on Linux only"
	default:
		c.log("a directory of the user cannot be copied", "error", err)
		shown.Access, reason = sandbox.AccessOff, "It could not be copied; the log of skills-mcp says why"
	}
	became = sandbox.Shared{Access: shown.Access, Reason: reason + "."}
	if shown.Access != sandbox.AccessOff {
		became.Path = shown.Path
	}
	return shown, became, made
}

// copy returns a copy of a share, or the error of [layers.Merge]. What of an
// earlier one cannot be used is made again.
func (c *copies) copy(ctx context.Context, share sandbox.Share, private string, bounds layers.Options) (*copied, error) {
	of := copyKey{private: private, path: share.Path, changes: share.Changes}
	if share.Access != sandbox.AccessReview {
		of.changes = ""
	}
	for {
		made, err := c.take(of)
		if err != nil {
			return nil, err
		}
		again := made.made != nil
		bounds.Last = made.made
		made.made, err = layers.Merge(ctx, share, made.dir, bounds)
		if err == nil {
			return made, nil
		}
		c.leave(made, false)
		if !again || ctx.Err() != nil || errors.Is(err, layers.ErrTooLarge) {
			return nil, err
		}
	}
}

// usage returns what the copies hold.
func (s *shownCopies) usage() map[string]disk.Usage {
	if s == nil {
		return nil
	}
	used := make(map[string]disk.Usage)
	for _, made := range s.copied {
		if made != nil {
			used[made.dir] = disk.MeasureAll(disk.Unbounded, made.dir)
		}
	}
	return used
}

// store stores what the run has changed.
func (s *shownCopies) store(result *sandbox.Result) {
	if s == nil {
		return
	}
	for i, made := range s.copied {
		if made == nil || s.shared[i].Access != sandbox.AccessReview {
			continue
		}
		lost, err := layers.Store(s.shares[i], made.dir, made.made)
		if err != nil {
			s.log("what a program changed cannot be kept", "error", err)
		}
		if err != nil || lost.Unstored > 0 {
			result.ChangesLost = true
			s.shared[i].Reason += lostReason(err)
		}
	}
	result.Shared = s.shared
}

// lostReason says why changes are lost.
func lostReason(err error) string {
	switch {
	case err == nil:
		return " Some of what was changed in it is lost, since it cannot be read, is too deep or is the same file as one elsewhere."
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return " Some of what was changed in it is lost, since the disk is full."
	case errors.Is(err, layers.ErrTooLarge):
		return " What was changed in it is lost, since it is " + err.Error() + "."
	}
	return " Some of what was changed in it is lost; the log of skills-mcp says why."
}

// close gives the copies back.
func (s *shownCopies) close() {
	if s == nil {
		return
	}
	for _, made := range s.copied {
		if made != nil {
			s.leave(made, true)
		}
	}
}
