package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/host"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
	"github.com/skills-mcp/skills-mcp/sandbox/queue"
)

// The values of --sandbox.
const (
	sandboxAuto       = "auto"
	sandboxLocal      = "local"
	sandboxDocker     = "docker"
	sandboxOff        = "off"
	sandboxUnsafeHost = "unsafe-host"
)

// openQueue opens what [settings.openSandbox] does, behind a queue.
func (s *settings) openQueue(ctx context.Context, log *slog.Logger) (_ sandbox.Backend, unavailable string, err error) {
	if s.maxRuns < 0 {
		return nil, "", usageError{fmt.Errorf("--max-runs %d is negative", s.maxRuns)}
	}
	if err := s.checkShow(); err != nil {
		return nil, "", err
	}
	backend, unavailable, err := s.openSandbox(ctx, log)
	if err != nil || backend == nil {
		return nil, unavailable, err
	}
	return queue.New(backend, queue.Options{Running: s.maxRuns}), "", nil
}

// openSandbox opens the backend that --sandbox names. Where there is none, it gives
// nil and says why and how to get one. Nothing runs without isolation unless
// it was asked for by name.
func (s *settings) openSandbox(ctx context.Context, log *slog.Logger) (backend sandbox.Backend, unavailable string, err error) {
	switch s.sandbox {
	case sandboxAuto:
		backend, err := s.bestSandbox(ctx, log)
		if err != nil {
			log.Warn("scripts cannot be run", "error", err)
			return nil, noSandbox(err), nil
		}
		return backend, "", nil
	case sandboxDocker:
		backend, err := s.openDocker(ctx, log, false)
		if err != nil {
			return nil, "", err
		}
		return backend, "", nil
	case sandboxLocal:
		backend, err := s.openLocal(ctx, log)
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
	return nil, "", usageError{fmt.Errorf("--sandbox %q is none of auto, local, docker, off, unsafe-host", s.sandbox)}
}

// bestSandbox opens the local sandbox in its full tier, which starts fastest
// and knows the user's interpreters, else containers, else the local sandbox
// in a lesser tier. It sends nothing to another machine.
func (s *settings) bestSandbox(ctx context.Context, log *slog.Logger) (sandbox.Backend, error) {
	own, localErr := s.openLocal(ctx, log)
	if localErr == nil && own.Info().Tier == "full" {
		return own, nil
	}
	containers, dockerErr := s.openDocker(ctx, log, true)
	if dockerErr == nil && len(s.show) > 0 {
		log.Warn("containers do not see what --show names")
	}
	switch {
	case dockerErr == nil && localErr == nil:
		return containers, own.Close()
	case dockerErr == nil:
		return containers, nil
	case localErr == nil:
		return own, nil
	}
	return nil, errors.Join(localErr, dockerErr)
}

func (s *settings) openLocal(ctx context.Context, log *slog.Logger) (*local.Backend, error) {
	project, err := projectDir()
	if err != nil {
		return nil, err
	}
	return local.New(ctx, local.Options{Logger: log, Project: project, Show: s.show})
}

// checkShow makes the paths of --show absolute and refuses those that programs
// must not see.
func (s *settings) checkShow() error {
	if len(s.show) > 0 && s.sandbox != sandboxAuto && s.sandbox != sandboxLocal {
		return usageError{fmt.Errorf("--show is for the local sandbox, not for --sandbox=%s", s.sandbox)}
	}
	project, err := projectDir()
	if err != nil {
		return err
	}
	for i, name := range s.show {
		if rest, found := strings.CutPrefix(name, "~/"); found {
			home, err := os.UserHomeDir()
			if err != nil {
				return err
			}
			name = filepath.Join(home, rest)
		} else if !filepath.IsAbs(name) {
			name = filepath.Join(project, name)
		}
		if s.show[i], err = local.CheckShow(name); err != nil {
			return usageError{fmt.Errorf("--show: %w", err)}
		}
	}
	return nil
}

func (s *settings) openDocker(ctx context.Context, log *slog.Logger, here bool) (*docker.Backend, error) {
	return docker.New(ctx, docker.Options{Here: here, Image: s.dockerImage, Runtime: s.dockerRuntime, Logger: log})
}

// noSandbox says in one line why nothing can be run, and what the user can do.
func noSandbox(err error) string {
	reason := strings.ReplaceAll(err.Error(), "\n", "; ")
	return reason + ". To run scripts without isolation, the user starts skills-mcp with --sandbox=unsafe-host."
}
