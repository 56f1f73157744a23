//go:build amd64 || arm64

package local

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// shares are those of a run, each with what is in force of it.
type shares []share

type share struct {
	sandbox.Share
	reason string // for having less access than was asked for
	copied bool   // it is a copy, which is mounted as it is
}

// Why a share is not shown as it was asked for.
const (
	inTheWay = "Its path is one of the sandbox's own, or above one"
	noUpper  = "What programs change cannot be kept: the file system of the server's state, or who owns the files, does not allow it."
)

// newShares decides which shares of a run can be tried.
func (s *system) newShares(spec sandbox.Spec) shares {
	all := make(shares, len(spec.Shares))
	for i, given := range spec.Shares {
		all[i] = share{Share: given}
		switch {
		case given.Access == sandbox.AccessOff: // for a reason that is known
		case s.tier != Full || s.isCopy(given): // which was looked at
		case s.layout.wouldHide(given):
			all[i].off(inTheWay + ".")
		}
		all[i].copied = s.tier == Full && s.isCopy(given)
	}
	return all
}

func (s *share) off(reason string) { s.Access, s.reason = sandbox.AccessOff, reason }

// wouldHide reports whether a share in its place would hide what programs need,
// or be in a directory that they may write.
func (l *layout) wouldHide(share sandbox.Share) bool {
	above := func(m jail.Mount) bool { return pathname.Within(m.Target, share.Path) }
	whole := share.Layers[len(share.Layers)-1] == share.Path // what is shown of it anyway is in the share too
	return l.isInTheWay(share.Path) || !whole && slices.ContainsFunc(l.shared, above)
}

// isInTheWay reports whether something at a path would hide what of the system
// programs need, or be in a directory of the sandbox's own.
func (l *layout) isInTheWay(path string) bool {
	for _, dir := range []string{"/dev", "/proc", "/sys", skillDir, workspace, private} {
		if pathname.Within(path, dir) || pathname.Within(dir, path) {
			return true
		}
	}
	return slices.ContainsFunc(l.mounts, func(m jail.Mount) bool { return pathname.Within(m.Target, path) }) ||
		slices.ContainsFunc(l.links, func(link jail.Link) bool { return pathname.Within(link.Path, path) })
}

// failed returns the share for which a jail could not be set up, or nil.
func (all shares) failed(err error) *share {
	step := new(supervisor.StepError)
	if !errors.As(err, &step) {
		return nil
	}
	number := 0 // in the orders
	for i := range all {
		if all[i].Access == sandbox.AccessOff || all[i].copied {
			continue
		}
		if step.Step == jail.ShareStep(number) {
			return &all[i]
		}
		number++
	}
	return nil
}

// lessen finds another way to show the share for which a jail could not be set
// up: a run never fails for one. Without such a share it returns the error.
func (s *system) lessen(shares shares, err error) error {
	share := shares.failed(err)
	switch {
	case share == nil:
		return err
	case share.Access == sandbox.AccessReview:
		share.Access, share.reason = sandbox.AccessRead, noUpper
		return nil
	}
	// Its file system allows no overlays, or another one is mounted in it.
	s.unmountable.Store(share.Path, true)
	return process.ErrShowCopies
}

// shown returns what became of shares, as a result has it.
func (all shares) shown() []sandbox.Shared {
	shown := make([]sandbox.Shared, len(all))
	for i, share := range all {
		shown[i] = sandbox.Shared{Access: share.Access, Reason: share.reason}
		if share.Access != sandbox.AccessOff {
			shown[i].Path = share.Path
		}
	}
	return shown
}

// project returns where a program sees the project of a spec, or nothing.
func (all shares) project(spec sandbox.Spec) string {
	if !spec.Project || len(all) == 0 {
		return ""
	}
	return all.shown()[0].Path
}

// place returns where in the new root something of that path is: a link of ours
// leads there.
func (l *layout) place(name string) string {
	for _, link := range l.links {
		if rest, found := strings.CutPrefix(name, link.Path+"/"); found && filepath.IsAbs(link.Target) {
			return filepath.Join(link.Target, rest)
		}
	}
	return name
}

// orders returns what a jail is to mount for shares.
func (all shares) orders(l *layout) (orders []jail.Share) {
	for _, share := range all {
		if share.Access == sandbox.AccessOff || share.copied {
			continue
		}
		order := jail.Share{Target: l.place(share.Path)}
		for _, layer := range share.Layers {
			order.Layers = append(order.Layers, jail.Mount{Source: layer, Target: share.Path, Dir: true, Single: true})
		}
		if share.Access == sandbox.AccessReview {
			order.Changes = &jail.Mount{Source: share.Changes, Target: share.Path, Dir: true, Single: true, Writable: true}
		}
		orders = append(orders, order)
	}
	return orders
}

// mounts returns the mounts of copies of shares.
func (all shares) mounts(l *layout) (mounts []jail.Mount) {
	for _, share := range all {
		if share.copied && share.Access != sandbox.AccessOff {
			mounts = append(mounts, jail.Mount{
				Source: share.Layers[0], Target: l.place(share.Path), Dir: true, Single: true,
				Writable: share.Access == sandbox.AccessReview,
			})
		}
	}
	return mounts
}

// rights adds to what programs may do that they may change shares.
func (all shares) rights(rights jail.Rights) jail.Rights {
	rights.Landlock = slices.Clone(rights.Landlock)
	for _, share := range all {
		if share.Access == sandbox.AccessReview {
			rights.Landlock = append(rights.Landlock, jail.Grant{Path: share.Path, Write: true})
		}
	}
	return rights
}

// hostDirs returns the directories that shares are made of.
func hostDirs(shares []sandbox.Share) (dirs []string) {
	for _, share := range shares {
		if share.Access != sandbox.AccessOff {
			dirs = append(dirs, share.Layers...)
		}
		if share.Access == sandbox.AccessReview {
			dirs = append(dirs, share.Changes)
		}
	}
	return dirs
}

// look finds a program by a path in a share, and reports whether that is in one at
// all.
func (all shares) look(l *layout, name string) (found, within bool) {
	for _, share := range all {
		if rest, within := strings.CutPrefix(name, share.Path+"/"); within && share.Access != sandbox.AccessOff {
			return share.look(l, rest, maxLinks), true
		}
	}
	return false, false
}

// look finds a program in the uppermost layer that has its name. Directories
// that programs have removed or replaced it may take for those below.
func (s *share) look(l *layout, rest string, links int) bool {
	layers := s.Layers
	if s.Access == sandbox.AccessReview {
		layers = append([]string{filepath.Join(s.Changes, sandbox.UpperDir)}, layers...)
	}
	for _, layer := range layers {
		file := filepath.Join(layer, rest)
		info, err := os.Lstat(file)
		switch {
		case err != nil:
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(file)
			return err == nil && links > 0 && s.follow(l, rest, target, links-1)
		default: // a whiteout is none
			found, ok := l.path.Look(file)
			return ok && l.leadsInto(found, layer)
		}
	}
	return false
}

// follow finds a program to which a symbolic link leads.
func (s *share) follow(l *layout, rest, target string, links int) bool {
	if !filepath.IsAbs(target) {
		target = filepath.Join(s.Path, filepath.Dir(rest), target)
	}
	if rest, within := strings.CutPrefix(filepath.Clean(target), s.Path+"/"); within {
		return s.look(l, rest, links)
	}
	_, found := l.look(target)
	return found
}

// detachShares is [idmaps.detach] for the directories of shares, of which it
// numbers the files after those that there are. What cannot have its owners
// mapped can be read still, as by others.
func (m *idmaps) detachShares(orders []jail.Share, files []*os.File) ([]*os.File, error) {
	for number := range orders {
		share := &orders[number]
		for i := range share.Layers {
			layer := &share.Layers[i]
			fd, err := jail.Detach(*layer, m.of)
			if err != nil && share.Changes == nil {
				fd, err = jail.Detach(*layer, nil)
			}
			if err != nil {
				return files, &supervisor.StepError{Step: jail.ShareStep(number), Err: err}
			}
			layer.Source, layer.File = "", len(files)
			files = append(files, os.NewFile(uintptr(fd), layer.Target))
		}
		if share.Changes == nil {
			continue
		}
		fd, err := jail.Detach(*share.Changes, m.of)
		if err != nil {
			return files, &supervisor.StepError{Step: jail.ShareStep(number), Err: err}
		}
		share.Changes.Source, share.Changes.File = "", len(files)
		files = append(files, os.NewFile(uintptr(fd), share.Target))
	}
	return files, nil
}
