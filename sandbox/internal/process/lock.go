package process

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/dirlock"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// lockDir locks a directory until it is released or this process ends. Where
// somebody has it, it calls busy, and fails if that does.
func lockDir(ctx context.Context, dir string, busy func() error) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, sandbox.MissingDir("changes", err)
	}
	for {
		lock, err := dirlock.Try(dir)
		if err == nil {
			return func() { _ = dirlock.Release(lock) }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, sandbox.MissingDir("changes", err)
		}
		if err := busy(); err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockInterval):
		}
	}
}
