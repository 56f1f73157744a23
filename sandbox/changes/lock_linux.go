package changes

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockPoll is how often one looks whether a lock that others hold is free.
const lockPoll = 5 * time.Millisecond

// lock is a lock of the kernel on a file. It falls with the process.
type lock struct{ file *os.File }

// tryLock takes a lock, [unix.LOCK_SH] or [unix.LOCK_EX], or fails with
// EWOULDBLOCK.
func tryLock(dir, name string, how int) (*lock, error) {
	file, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(file.Fd()), how|unix.LOCK_NB)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &lock{file}, nil
}

// waitLock takes a lock as soon as it is free, or fails with [ErrBusy] when ctx
// has ended.
func waitLock(ctx context.Context, dir, name string, how int) (*lock, error) {
	for {
		l, err := tryLock(dir, name, how)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return l, err
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// waiting is the context in which something waits for others.
func waiting(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	if most <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, most)
}

// pause returns [ErrBusy] where ctx has ended.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ErrBusy
	case <-time.After(lockPoll):
		return nil
	}
}

// release gives the lock back at once, also what a process that is being started
// has of it.
func (l *lock) release() {
	_ = unix.Flock(int(l.file.Fd()), unix.LOCK_UN) // a lock that is held can be given back
	l.file.Close()
}
