package process

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// lockInterval is the time between two attempts to lock what another run has.
const lockInterval = 10 * time.Millisecond

// usedDir is in [sandbox.Share.Changes] what the last run had as
// [sandbox.WorkDir], until it is removed.
const usedDir = "used"

// changesOf returns the directories of what programs change in shares.
func changesOf(shares []sandbox.Share) (dirs []string) {
	for _, share := range shares {
		if share.Access == sandbox.AccessReview {
			dirs = append(dirs, share.Changes)
		}
	}
	return dirs
}

// uppersOf returns where the changes themselves are, which count as what is in
// the workspace does.
func uppersOf(shares []sandbox.Share) (dirs []string) {
	for _, dir := range changesOf(shares) {
		dirs = append(dirs, filepath.Join(dir, sandbox.UpperDir))
	}
	return dirs
}

// checkShares checks the shares of a run. Errors are of type
// [sandbox.SetupError].
func checkShares(spec sandbox.Spec) error {
	if spec.Project && len(spec.Shares) == 0 {
		return invalidShare("it is the project, but there is none")
	}
	for i, share := range spec.Shares {
		if err := checkShare(share); err != nil {
			return err
		}
		for _, other := range spec.Shares[:i] {
			if overlap(share.Path, other.Path) {
				return invalidShare("it is below another one")
			}
		}
	}
	return nil
}

// overlap reports whether one of two directories is the other, or below it.
func overlap(a, b string) bool { return pathname.Within(a, b) || pathname.Within(b, a) }

func checkShare(share sandbox.Share) error {
	holdsChanges := func(dir string) bool { return overlap(dir, share.Changes) }
	switch {
	case !wellFormed(share.Path):
		return invalidShare("its path is not absolute and clean, or the root")
	case len(share.Layers) == 0 || slices.ContainsFunc(share.Layers, func(dir string) bool { return !wellFormed(dir) }):
		return invalidShare("its layers are not absolute and clean")
	case share.Access != sandbox.AccessRead && share.Access != sandbox.AccessReview:
		return invalidShare("its access is unknown")
	case share.Access == sandbox.AccessReview && !wellFormed(share.Changes):
		return invalidShare("it has no directory for changes")
	case share.Access == sandbox.AccessReview && slices.ContainsFunc(slices.Concat(share.Layers, []string{share.Path}), holdsChanges):
		return invalidShare("it holds the changes to itself")
	}
	return nil
}

func invalidShare(what string) error {
	return invalidSpec("a shared directory cannot be shown: " + what)
}

// lockChanges waits until no other run, of any process, uses the directories of
// a run's changes: two overlays must not have the same upper directory, and what
// is changed by two runs at once has no order. It fails when ctx ends, where a
// directory is gone, and where the spec does not want to wait.
func lockChanges(ctx context.Context, spec sandbox.Spec) (unlock func(), err error) {
	dirs := changesOf(spec.Shares)
	slices.SortFunc(dirs, cmp.Compare) // so that no two runs wait for each other
	var locks []func()
	unlock = func() {
		for _, release := range slices.Backward(locks) {
			release()
		}
	}
	for _, dir := range slices.Compact(dirs) {
		release, err := lockDir(ctx, dir, sync.OnceValue(func() error { return whileBusy(spec) }))
		if err != nil {
			unlock()
			return nil, err
		}
		locks = append(locks, release)
	}
	return unlock, nil
}

// LockChanges waits until no run uses the directories of what programs change in
// a share, as [sandbox.Share] has it, makes what is missing of them, and has them
// for the caller until unlock is called. It fails when ctx ends.
func LockChanges(ctx context.Context, share sandbox.Share) (unlock func(), err error) {
	spec := sandbox.Spec{Shares: []sandbox.Share{share}}
	if err := checkShares(spec); err != nil {
		return nil, err
	}
	release, err := lockChanges(ctx, spec)
	if err != nil {
		return nil, err
	}
	if err = checkLayers(share); err == nil {
		err = prepareChanges(share)
	}
	removed := removeUsed(spec.Shares)
	unlock = func() {
		removed()
		release()
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// removeUsed removes what runs before have left in working directories, and
// returns what waits for that. The run does not: to remove them takes a disk
// longer than all else that a run with a share takes.
func removeUsed(shares []sandbox.Share) (removed func()) {
	var work sync.WaitGroup
	for _, dir := range changesOf(shares) {
		work.Go(func() { _ = tempdir.Remove(filepath.Join(dir, usedDir)) }) // the next run would try again
	}
	return work.Wait
}

// whileBusy says that a run waits for another one, or that it does not.
func whileBusy(spec sandbox.Spec) error {
	if spec.NoWait {
		return &sandbox.SetupError{
			Rule:    "project-busy",
			Message: "another run of this workspace works on the same files of the user",
			Hint:    "Wait until it has ended, or use another workspace.",
		}
	}
	if spec.Progress != nil {
		spec.Progress("waiting for another run of this workspace, which works on the same files")
	}
	return nil
}

// usable returns the shares of a run with what of them can be had, and why it is
// less than what was asked for. A program that is to start in a project that is
// gone is not started elsewhere: an empty directory in its place does not fail,
// it lies.
func usable(spec sandbox.Spec) (shares []sandbox.Share, reasons []string, err error) {
	shares, reasons = slices.Clone(spec.Shares), make([]string, len(spec.Shares))
	for i := range shares {
		share := &shares[i]
		if err := checkLayers(*share); err != nil {
			if i == 0 && spec.Project && spec.InProject {
				return nil, nil, sandbox.MissingDir("project", err)
			}
			share.Access, reasons[i] = sandbox.AccessOff, "It is not there, is no directory, or is behind a link."
		} else if share.Access == sandbox.AccessReview && prepareChanges(*share) != nil {
			share.Access, reasons[i] = sandbox.AccessRead, "There is no place to keep what programs change."
		}
	}
	return shares, reasons, nil
}

// shared returns what became of shares, with what a backend says of those that
// it was given.
func shared(shares []sandbox.Share, reasons []string, by []sandbox.Shared) []sandbox.Shared {
	var all []sandbox.Shared
	for i, share := range shares {
		became := sandbox.Shared{Access: sandbox.AccessOff, Reason: reasons[i]}
		switch {
		case share.Access == sandbox.AccessOff:
		case i < len(by):
			became = by[i]
			became.Reason = cmp.Or(became.Reason, reasons[i])
		default:
			became.Reason = "This sandbox shows programs no directories of the user."
		}
		all = append(all, became)
	}
	return all
}
