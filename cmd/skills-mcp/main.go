// Command skills-mcp serves folders of Agent Skills to MCP hosts.
//
// Without a subcommand it is a stdio server. Exit codes: 0 for a clean end, 1
// for a failure, 2 for wrong usage.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/redact"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program on the given streams, on which it writes no value of a
// secret that it has read.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	secrets := &redact.Set{}
	stdout, stderr = terminal.Redacted(stdout, secrets), terminal.Redacted(stderr, secrets)
	command := newRootCommand(secrets)
	command.SetArgs(args)
	command.SetIn(stdin)
	command.SetOut(stdout)
	command.SetErr(stderr)
	ran, err := command.ExecuteContextC(ctx)
	var usage exit.UsageError
	switch {
	case err == nil:
		return exit.OK
	case errors.Is(err, exit.ErrReported):
		return exit.Failure
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "skills-mcp: %v\nRun '%s --help' for usage.\n", err, ran.CommandPath())
		return exit.Usage
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "skills-mcp: %v\n", context.Cause(ctx)) // which signal it was
		return exit.Failure
	default:
		fmt.Fprintf(stderr, "skills-mcp: %v\n", err)
		return exit.Failure
	}
}
