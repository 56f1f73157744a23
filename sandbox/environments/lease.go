package environments

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

const (
	// makingName is the lock that all share who make environments.
	makingName = "making"
	// retryEvery is how often a lock is tried that another process has.
	retryEvery = 50 * time.Millisecond
	// usedEvery is how exactly the last use is known.
	usedEvery = time.Hour
)

// errBusy means that somebody else has a lock.
var errBusy = errors.New("it is used by another process")

// The ways to take a lock: those that share it keep away who has it alone.
var (
	tryAlone  = (*flock.Flock).TryLock
	tryShared = (*flock.Flock).TryRLock
)

// waiting has a lock be waited for no longer than ctx lasts.
func waiting(ctx context.Context, try func(*flock.Flock) (bool, error)) func(*flock.Flock) (bool, error) {
	return func(lock *flock.Flock) (bool, error) {
		for {
			if taken, err := try(lock); taken || err != nil {
				return taken, err
			}
			select {
			case <-ctx.Done():
				return false, fmt.Errorf("waiting for another one that prepares the same was given up: %w", ctx.Err())
			case <-time.After(retryEvery):
			}
		}
	}
}

// lock takes the lock of an environment by its name, or [errBusy]: a file that no
// program sees, as old as the environment's last use. It falls with the process.
func (s *Store) lock(name string, try func(*flock.Flock) (bool, error)) (release func(), err error) {
	path := filepath.Join(s.Dir, usedDir, name)
	for {
		lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDONLY|openflag.NoFollow|openflag.NonBlock), flock.SetPermissions(0o600))
		taken, err := try(lock)
		if err == nil && !taken {
			err = errBusy
		}
		if err != nil {
			return nil, err
		}
		locked, err := lock.Stat()
		if found, foundErr := os.Lstat(path); err == nil && foundErr == nil && os.SameFile(locked, found) {
			return func() { _ = lock.Close() }, nil
		}
		_ = lock.Close() // it was removed with its environment meanwhile
	}
}

// Acquire notes that a run has the environment, and keeps it from being removed
// until release is called. The error is [ErrNotPrepared] where it is not there any
// more.
func (e *Environment) Acquire() (release func(), err error) {
	release, err = e.store.lock(e.name(), tryShared)
	if err != nil {
		return nil, notThere(err)
	}
	if _, err := os.Stat(filepath.Join(e.store.Dir, e.name(), manifestName)); err != nil {
		release()
		return nil, notThere(err)
	}
	if now := time.Now(); now.Sub(e.Used) >= usedEvery {
		if err := os.Chtimes(filepath.Join(e.store.Dir, usedDir, e.name()), now, now); err != nil {
			e.store.log().Debug("the use of an environment is not noted", "error", err)
		}
	}
	return release, nil
}
