package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/config"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/remote"
	"github.com/skills-mcp/skills-mcp/sandbox/host"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
	"github.com/skills-mcp/skills-mcp/sandbox/queue"
)

// backends are the values of --sandbox, the default first.
var backends = []struct {
	name, help string
	// open returns a nil backend where nothing can be run, and why.
	open func(s *settings, ctx context.Context, log *slog.Logger) (backend sandbox.Backend, unavailable string, err error)
}{
	{"auto", "the best isolation there is, or\noff where there is none", (*settings).openBest},
	{"local", "kernel isolation, Linux", opened((*settings).openLocal)},
	{"docker", "a\ncontainer for every run", opened((*settings).openDocker)},
	{"off", "", func(s *settings, _ context.Context, _ *slog.Logger) (sandbox.Backend, string, error) {
		return nil, s.whyOff(), nil
	}},
	{"unsafe-host", "no isolation at all", opened(func(_ *settings, _ context.Context, log *slog.Logger) (*host.Backend, error) {
		return host.New(host.Options{Logger: log})
	})},
}

// backendHelp describes the values of --sandbox.
func backendHelp() string {
	choices := make([]string, len(backends))
	for i, b := range backends {
		if choices[i] = b.name; b.help != "" {
			choices[i] += " (" + b.help + ")"
		}
	}
	last := len(choices) - 1
	return strings.Join(choices[:last], ", ") + ", or " + choices[last]
}

// opened makes a backend's own constructor one of the table's.
func opened[B sandbox.Backend](open func(*settings, context.Context, *slog.Logger) (B, error)) func(*settings, context.Context, *slog.Logger) (sandbox.Backend, string, error) {
	return func(s *settings, ctx context.Context, log *slog.Logger) (sandbox.Backend, string, error) {
		backend, err := open(s, ctx, log)
		if err != nil {
			return nil, "", err // not a nil pointer that is no nil interface
		}
		return backend, "", nil
	}
}

// openQueue opens what [settings.openSandbox] does, behind a queue.
func (s *settings) openQueue(ctx context.Context, log *slog.Logger) (_ sandbox.Backend, unavailable string, err error) {
	if err := s.checkShow(); err != nil {
		return nil, "", err
	}
	backend, unavailable, err := s.openSandbox(ctx, log)
	if err != nil || backend == nil {
		return nil, unavailable, err
	}
	return queue.New(backend, queue.Options{Running: s.Sandbox.MaxRuns}), "", nil
}

// openSandbox opens the backend that --sandbox names. Nothing runs without
// isolation unless it was asked for by name.
func (s *settings) openSandbox(ctx context.Context, log *slog.Logger) (backend sandbox.Backend, unavailable string, err error) {
	for _, b := range backends {
		if b.name == s.Sandbox.Backend {
			return b.open(s, ctx, log)
		}
	}
	return nil, "", fmt.Errorf("there is no sandbox %q", s.Sandbox.Backend)
}

// whyOff says who turned execution off, and names no path of this machine.
func (s *settings) whyOff() string {
	if s.ProjectError != nil {
		return fmt.Sprintf("the project's %s cannot be used, so it is not known what it forbids: %s. It has to be corrected or removed, and the server started again.",
			config.ProjectFile, firstFault(s.ProjectError))
	}
	switch origin := s.Origin("sandbox.backend"); origin.Kind {
	case config.FromProject:
		return fmt.Sprintf("the project's %s turns execution off, on line %d.", config.ProjectFile, origin.Line)
	case config.FromFile:
		return "the user's configuration turns execution off, by sandbox.backend."
	case config.FromEnvironment:
		return "the user turned execution off with " + origin.Name + "=off."
	}
	return "the user turned execution off with --sandbox=off."
}

// openBest opens [settings.bestSandbox], or says in one line why nothing can
// be run, and what the user can do.
func (s *settings) openBest(ctx context.Context, log *slog.Logger) (sandbox.Backend, string, error) {
	backend, err := s.bestSandbox(ctx, log)
	if err == nil {
		return backend, "", nil
	}
	log.Warn("scripts cannot be run", "error", err)
	reason := strings.ReplaceAll(err.Error(), "\n", "; ")
	return nil, reason + ". To run scripts without isolation, the user starts skills-mcp with --sandbox=unsafe-host.", nil
}

// bestSandbox opens the local sandbox in its full tier, which starts fastest
// and knows the user's interpreters, else containers, else the local sandbox
// in a lesser tier. It sends nothing to another machine.
func (s *settings) bestSandbox(ctx context.Context, log *slog.Logger) (sandbox.Backend, error) {
	own, localErr := s.openLocal(ctx, log)
	if localErr == nil && own.Info().Tier == "full" {
		return own, nil
	}
	containers, dockerErr := s.openDocker(ctx, log)
	if dockerErr == nil && len(s.Sandbox.Show) > 0 {
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
	return local.New(ctx, local.Options{Logger: log, Project: project, Show: s.Sandbox.Show})
}

// checkShow makes the paths that are to be shown absolute and refuses those that programs
// must not see.
func (s *settings) checkShow() error {
	if backend := s.Sandbox.Backend; backend != "auto" && backend != "local" {
		if s.Origin("sandbox.show").Kind == config.FromFlag && s.Origin("sandbox.backend").Kind == config.FromFlag {
			return usageError{fmt.Errorf("--show is for the local sandbox, not for --sandbox=%s", backend)}
		}
		return nil // there is nothing to show it to
	}
	project, err := projectDir()
	if err != nil {
		return err
	}
	for i, name := range s.Sandbox.Show {
		if name, err = expandHome(name); err != nil {
			return err
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(project, name)
		}
		if s.Sandbox.Show[i], err = local.CheckShow(name); err != nil {
			return asUsage(s.Refuse("sandbox.show", err))
		}
	}
	return nil
}

func (s *settings) openDocker(ctx context.Context, log *slog.Logger) (*docker.Backend, error) {
	return docker.New(ctx, docker.Options{
		Image: s.Sandbox.Docker.Image, Runtime: s.Sandbox.Docker.Runtime, Logger: log,
		Remote: remote.Access{Here: s.Sandbox.Backend == "auto"},
	})
}
