package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/host"
)

// The values of --sandbox.
const (
	sandboxAuto       = "auto"
	sandboxDocker     = "docker"
	sandboxOff        = "off"
	sandboxUnsafeHost = "unsafe-host"
)

// openSandbox opens the backend that --sandbox names. Where there is none, it gives
// nil and says why and how to get one. Nothing runs without isolation unless
// it was asked for by name.
func (s *settings) openSandbox(ctx context.Context, log *slog.Logger) (backend sandbox.Backend, unavailable string, err error) {
	switch s.sandbox {
	case sandboxAuto:
		return nil, "this version has no isolating sandbox; to run scripts without isolation, the user starts skills-mcp with --sandbox=unsafe-host.", nil
	case sandboxDocker:
		backend, err := docker.New(ctx, docker.Options{Image: s.dockerImage, Logger: log})
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
	return nil, "", usageError{fmt.Errorf("--sandbox %q is none of auto, docker, off, unsafe-host", s.sandbox)}
}
