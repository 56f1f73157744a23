//go:build unix

package process

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// lockDir locks a directory until it is released or this process ends. Where
// somebody has it, it calls busy, and fails if that does.
func lockDir(ctx context.Context, dir string, busy func() error) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, sandbox.MissingDir("changes", err)
	}
	file, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, sandbox.MissingDir("changes", err)
	}
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() {
				unix.Flock(int(file.Fd()), unix.LOCK_UN) // also what a process that is being started has of it
				file.Close()
			}, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			file.Close()
			return nil, sandbox.MissingDir("changes", err)
		}
		if err := busy(); err != nil {
			file.Close()
			return nil, err
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, ctx.Err()
		case <-time.After(lockInterval):
		}
	}
}
