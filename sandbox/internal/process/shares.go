package process

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// lockInterval is the time between two attempts to lock what another run has.
const lockInterval = 10 * time.Millisecond

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
	for _, share := range spec.Shares {
		if err := checkShare(share); err != nil {
			return err
		}
	}
	return nil
}

func checkShare(share sandbox.Share) error {
	wellFormed := func(dir string) bool { return filepath.IsAbs(dir) && filepath.Clean(dir) == dir }
	switch {
	case !wellFormed(share.Path):
		return invalidShare("its path is not absolute and clean")
	case len(share.Layers) == 0 || slices.ContainsFunc(share.Layers, func(dir string) bool { return !wellFormed(dir) }):
		return invalidShare("its layers are not absolute and clean")
	case share.Access != sandbox.AccessRead && share.Access != sandbox.AccessReview:
		return invalidShare("its access is unknown")
	case share.Access == sandbox.AccessReview && !wellFormed(share.Changes):
		return invalidShare("it has no directory for changes")
	}
	return nil
}

func invalidShare(what string) error {
	return &sandbox.SetupError{
		Rule:    "spec-invalid",
		Message: "a shared directory cannot be shown: " + what,
		Hint:    "This is a fault of the server, not of the call.",
	}
}

// lockChanges waits until no other run, of any process, uses the directories of
// a run's changes: two overlays must not have the same upper directory, and what
// is changed by two runs at once has no order. It fails when ctx ends, and where
// a directory is gone.
func lockChanges(ctx context.Context, shares []sandbox.Share) (unlock func(), err error) {
	dirs := changesOf(shares)
	slices.SortFunc(dirs, cmp.Compare) // so that no two runs wait for each other
	var locks []func()
	unlock = func() {
		for _, release := range slices.Backward(locks) {
			release()
		}
	}
	for _, dir := range slices.Compact(dirs) {
		release, err := lockDir(ctx, dir)
		if err != nil {
			unlock()
			return nil, err
		}
		locks = append(locks, release)
	}
	return unlock, nil
}

// notShown is what became of the shares of a run by a backend that says nothing
// of them.
func notShown(shares []sandbox.Share) []sandbox.Shared {
	var all []sandbox.Shared
	for range shares {
		all = append(all, sandbox.Shared{Access: sandbox.AccessOff, Reason: "This sandbox shows programs no directories of the user."})
	}
	return all
}
