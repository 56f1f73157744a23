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
		order, err := b.order(spec)
		return func(ctx context.Context, streams *process.Streams) (process.Tree, error) {
			of, err := b.templateOf(spec)
			if err != nil {
				return nil, sandbox.MissingDir("workspace", err)
			}
			of.ephemeral = ephemeral && !b.copying
			return b.startProgram(ctx, spec, of, order, streams)
		}, err
	})
}

var errEarlyEnd = errors.New("a container ended before it was told what to run")

// startProgram starts a program in a container. One that was started ahead may
// have died meanwhile; then another one is taken.
func (b *Backend) startProgram(ctx context.Context, spec sandbox.Spec, of template, order protocol.Order, streams *process.Streams) (process.Tree, error) {
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
			c.release()
			return nil, err
		}
		x, err := c.execute(order, spec, streams.Stdout, streams.Stderr)
		if err != nil {
			return nil, err
		}
		if x.started(ctx) {
			return x, nil
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
