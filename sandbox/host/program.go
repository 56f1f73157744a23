package host

import (
	"context"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/command"
	"github.com/skills-mcp/skills-mcp/sandbox/host/internal/child"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
)

// Run implements [sandbox.Backend].
func (b *Backend) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	return b.runner.Run(ctx, spec, func(spec sandbox.Spec) (process.Start, error) {
		what, err := b.program(spec)
		return func(_ context.Context, streams *process.Streams) (process.Tree, error) {
			return b.starter.start(what, streams)
		}, err
	})
}

// program checks a spec and finds what it wants to run.
func (b *Backend) program(spec sandbox.Spec) (child.Order, error) {
	at := dirs(spec)
	argv, err := command.Line(spec, spec.SkillDir, b.lookFrom(at.Start(spec)))
	if err != nil {
		return child.Order{}, err
	}
	env, err := b.environ(spec, at)
	if err != nil {
		return child.Order{}, err
	}
	return child.Order{Argv: argv, Env: env, Dir: at.Start(spec)}, nil
}
