package layers

import (
	"context"
	"slices"
	"sync"
)

// locks are the directories in use, each with a channel that is closed when it
// is free again.
var locks = struct {
	sync.Mutex
	held map[string]chan struct{}
}{held: make(map[string]chan struct{})}

// Lock waits until no other run of this process uses any of the directories, and
// takes them all. Runs that share a [sandbox.Share]'s Changes take turns: each
// sees what the one before it has changed. The error is that of ctx.
func Lock(ctx context.Context, changes ...string) (unlock func(), err error) {
	sorted := slices.Compact(slices.Sorted(slices.Values(changes))) // so that no two wait for each other
	var taken []string
	unlock = sync.OnceFunc(func() { release(taken) })
	for _, dir := range sorted {
		if err := acquire(ctx, dir); err != nil {
			unlock()
			return nil, err
		}
		taken = append(taken, dir)
	}
	return unlock, nil
}

func acquire(ctx context.Context, dir string) error {
	for {
		locks.Lock()
		free, busy := locks.held[dir]
		if !busy {
			locks.held[dir] = make(chan struct{})
		}
		locks.Unlock()
		if !busy {
			return nil
		}
		select {
		case <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func release(dirs []string) {
	locks.Lock()
	defer locks.Unlock()
	for _, dir := range dirs {
		close(locks.held[dir])
		delete(locks.held, dir)
	}
}
