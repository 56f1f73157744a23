package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
)

// timeoutGrace is how long after its timeout a program is killed inside the
// container, should the server fail to see to it.
const timeoutGrace = 10 * time.Second

// Run implements [sandbox.Backend].
func (b *Backend) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	ephemeral := spec.Private == ""
	return b.runner.Run(ctx, spec, func(spec sandbox.Spec) (process.Start, error) {
		if err := b.checkShow(spec); err != nil {
			return nil, err
		}
		by := b.sharingOf(ctx, spec)
		by.covered = len(spec.Show)+len(libraryOf(spec)) > 0 && b.mountsOverlays(ctx)
		_, err := b.order(spec, by)
		return func(ctx context.Context, streams *process.Streams) (process.Tree, error) {
			for {
				tree, err := b.startShared(ctx, spec, by, ephemeral, streams)
				if errors.Is(err, errNoOverlay) && by.covered && ctx.Err() == nil {
					b.log.Warn("what is shown is shown as it is, with the locks, sockets and pipes there", "error", err)
					by.covered = false
					continue
				}
				if !errors.Is(err, errNoOverlay) || by.way >= byNone || ctx.Err() != nil {
					return tree, err
				}
				b.log.Warn("what is shared cannot be shown as it was to be", "error", err)
				by = b.shareBy(by.way+1, spec.Shares, notHere)
			}
		}, err
	})
}

// startShared starts a program that sees what is shared in some way. Where it
// cannot, the error is [errNoOverlay].
func (b *Backend) startShared(ctx context.Context, spec sandbox.Spec, by sharing, ephemeral bool, streams *process.Streams) (process.Tree, error) {
	order, err := b.order(spec, by)
	if err != nil {
		return nil, err
	}
	of, err := b.templateOf(spec, by)
	if err != nil {
		return nil, sandbox.MissingDir("workspace", err)
	}
	of.ephemeral = ephemeral && !b.copying
	x, err := b.startProgram(ctx, spec, of, order, streams)
	if err != nil {
		return nil, err
	}
	x.shared = by.shared
	return x, nil
}

var errEarlyEnd = errors.New("a container ended before it was told what to run")

// startProgram starts a program in a container. One that was started ahead may
// have died meanwhile; then another one is taken.
func (b *Backend) startProgram(ctx context.Context, spec sandbox.Spec, of template, order protocol.Order, streams *process.Streams) (*execution, error) {
	for {
		c := b.pool.take(of)
		warm := c != nil
		if !warm {
			var err error
			if c, err = b.start(ctx, of); err != nil {
				return nil, refused(err)
			}
		}
		if err := ctx.Err(); err != nil { // the program is not worth starting
			c.end()
			return nil, err
		}
		x, err := c.execute(order, spec, streams.Stdout, streams.Stderr)
		if err != nil {
			return nil, err
		}
		if x.started(ctx) {
			b.pool.follow(c)
			return x, x.connect(streams)
		}
		x.abandon()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !warm {
			return nil, fmt.Errorf("%w: %w", sandbox.ErrUnavailable, errEarlyEnd)
		}
	}
}

// refused returns the error for a container that the engine does not create.
func refused(err error) error {
	if errors.Is(err, engine.ErrPath) {
		return &sandbox.SetupError{
			Rule:    "setup-failed",
			Message: "the skill or the workspace cannot be shared: " + engine.ErrPath.Error(),
			Hint:    "Tell the user to give the directory another name.",
			Err:     err,
		}
	}
	return fmt.Errorf("%w: %w", sandbox.ErrUnavailable, err)
}
