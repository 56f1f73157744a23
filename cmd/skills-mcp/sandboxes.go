package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/host"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// The values of --sandbox.
const (
	sandboxAuto       = "auto"
	sandboxLocal      = "local"
	sandboxOff        = "off"
	sandboxUnsafeHost = "unsafe-host"
)

// openSandbox opens the backend of that name. Where there is none, it gives
// nil and says why and how to get one. Nothing runs without isolation unless
// it was asked for by name.
func openSandbox(ctx context.Context, name string, log *slog.Logger) (backend sandbox.Backend, unavailable string, err error) {
	switch name {
	case sandboxAuto:
		backend, err := local.New(ctx, local.Options{Logger: log})
		if err != nil {
			log.Warn("scripts cannot be run", "error", err)
			return nil, noSandbox(err), nil
		}
		return backend, "", nil
	case sandboxLocal:
		backend, err := local.New(ctx, local.Options{Logger: log})
		if err != nil {
			return nil, "", err
		}
		return backend, "", nil
	case sandboxOff:
		return nil, "the user turned execution off with --sandbox=off.", nil
	case sandboxUnsafeHost:
		backend, err := host.New(host.Options{Logger: log})
		return backend, "", err
	}
	return nil, "", usageError{fmt.Errorf("--sandbox %q is none of auto, local, off, unsafe-host", name)}
}

// noSandbox says in one line why nothing can be run, and what the user can do.
func noSandbox(err error) string {
	reason := strings.ReplaceAll(err.Error(), "\n", "; ")
	return reason + ". To run scripts without isolation, the user starts skills-mcp with --sandbox=unsafe-host."
}
