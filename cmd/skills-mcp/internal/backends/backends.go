// Package backends opens the sandbox in which programs run.
package backends

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/hosted"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/internal/config"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/remote"
	"github.com/skills-mcp/skills-mcp/sandbox/host"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
	"github.com/skills-mcp/skills-mcp/sandbox/queue"
)

// opener opens a backend, or returns an error where it is not to be had.
type opener func(ctx context.Context, s *settings.Settings, log *slog.Logger) (sandbox.Backend, error)

// backends are the values of --sandbox, the default first.
var backends = []struct {
	name, help string
	open       opener
}{
	{"auto", "the best isolation there is, or\noff where there is none", openBest},
	{"local", "kernel isolation, Linux", opened(openLocal)},
	{"docker", "a\ncontainer for every run", opened(openDocker)},
	{"hosted", "the Claude API's\ncontainers, by way of a model", opened(hosted.OpenSandbox)},
	{"off", "", func(_ context.Context, s *settings.Settings, _ *slog.Logger) (sandbox.Backend, error) {
		return sandbox.None(whyOff(s)), nil
	}},
	{"unsafe-host", "no isolation at all", opened(func(_ context.Context, _ *settings.Settings, log *slog.Logger) (*host.Backend, error) {
		return host.New(host.Options{Logger: log})
	})},
}

// Names returns the values of --sandbox, the default first.
func Names() []string {
	names := make([]string, len(backends))
	for i, b := range backends {
		names[i] = b.name
	}
	return names
}

// Help describes the values of --sandbox.
func Help() string {
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
func opened[B sandbox.Backend](open func(context.Context, *settings.Settings, *slog.Logger) (B, error)) opener {
	return func(ctx context.Context, s *settings.Settings, log *slog.Logger) (sandbox.Backend, error) {
		backend, err := open(ctx, s, log)
		if err != nil {
			return nil, err // not a nil pointer that is no nil interface
		}
		return behindQueue(backend, s, log), nil
	}
}

// behindQueue puts a queue before a backend, and says in the log what it is.
func behindQueue(backend sandbox.Backend, s *settings.Settings, log *slog.Logger) sandbox.Backend {
	info := backend.Info()
	if info.Shown != "" {
		log.Info("programs see more than the system's files", "shown", strings.Split(info.Shown, "\n"))
	}
	if info.Tier == "none" {
		log.Warn("scripts run without isolation", "sandbox", info.Backend, "tier", info.Tier, "notice", info.Notice)
	}
	log.Info("programs are run", "sandbox", info.Backend, "tier", info.Tier)
	return queue.New(backend, queue.Options{Running: s.Sandbox.MaxRuns})
}

// Open opens the backend that --sandbox names, behind a queue. Nothing runs
// without isolation unless it was asked for by name: where nothing can be run, the
// backend says so, and why. One that was asked for by name has to be there.
func Open(ctx context.Context, s *settings.Settings, log *slog.Logger) (sandbox.Backend, error) {
	if err := checkShow(s); err != nil {
		return nil, err
	}
	for _, b := range backends {
		if b.name == s.Sandbox.Backend {
			return b.open(ctx, s, log)
		}
	}
	return nil, fmt.Errorf("there is no sandbox %q", s.Sandbox.Backend)
}

// whyOff says who turned execution off, and names no path of this machine.
func whyOff(s *settings.Settings) string {
	if s.ProjectError != nil {
		return fmt.Sprintf("the project's %s cannot be used, so it is not known what it forbids: %s. It has to be corrected or removed, and the server started again.",
			config.ProjectFile, settings.FirstFault(s.ProjectError))
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

// openBest returns a backend that becomes the [best] once it is needed: finding
// that one takes longer than anything else before the first answer. Where there is
// none, it says in one line why, and what the user can do.
func openBest(ctx context.Context, s *settings.Settings, log *slog.Logger) (sandbox.Backend, error) {
	return &onNeed{open: func() sandbox.Backend {
		backend, err := best(ctx, s, log)
		if err == nil {
			return behindQueue(backend, s, log)
		}
		log.Warn("scripts cannot be run", "error", err)
		reason := strings.ReplaceAll(err.Error(), "\n", "; ")
		return sandbox.None(reason + ". To run scripts without isolation, the user starts skills-mcp with --sandbox=unsafe-host.")
	}}, nil
}

// best opens the local sandbox in its full tier, which starts fastest
// and knows the user's interpreters, else containers, else the local sandbox
// in a lesser tier. It sends nothing to another machine.
func best(ctx context.Context, s *settings.Settings, log *slog.Logger) (sandbox.Backend, error) {
	own, localErr := openLocal(ctx, s, log)
	if localErr == nil && own.Info().Tier == "full" {
		return own, nil
	}
	containers, dockerErr := openDocker(ctx, s, log)
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

func openLocal(ctx context.Context, s *settings.Settings, log *slog.Logger) (*local.Backend, error) {
	project, err := settings.ProjectDir()
	if err != nil {
		return nil, err
	}
	return local.New(ctx, local.Options{Logger: log, Project: project, Show: s.Sandbox.Show})
}

// checkShow makes the paths that are to be shown absolute and refuses those that programs
// must not see.
func checkShow(s *settings.Settings) error {
	if backend := s.Sandbox.Backend; backend != "auto" && backend != "local" {
		if s.Origin("sandbox.show").Kind == config.FromFlag && s.Origin("sandbox.backend").Kind == config.FromFlag {
			return exit.Misused(fmt.Errorf("--show is for the local sandbox, not for --sandbox=%s", backend))
		}
		return nil // there is nothing to show it to
	}
	project, err := settings.ProjectDir()
	if err != nil {
		return err
	}
	for i, name := range s.Sandbox.Show {
		if name, err = settings.ExpandHome(name); err != nil {
			return err
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(project, name)
		}
		if s.Sandbox.Show[i], err = local.CheckShow(name); err != nil {
			return settings.AsUsage(s.Refuse("sandbox.show", err))
		}
	}
	return nil
}

func openDocker(ctx context.Context, s *settings.Settings, log *slog.Logger) (*docker.Backend, error) {
	return docker.New(ctx, docker.Options{
		Image: s.Sandbox.Docker.Image, Runtime: s.Sandbox.Docker.Runtime, Logger: log,
		Remote: remote.Access{Here: s.Sandbox.Backend == "auto"},
	})
}

// Tried is a backend that isolates programs, or sends them elsewhere, and was
// opened.
type Tried struct {
	Name    string
	Backend sandbox.Backend // nil where there is an error
	Err     error
	// Chosen reports that it is what auto chooses.
	Chosen bool
}

// TryAll opens all backends that isolate programs, and the hosted one where that is
// what is used. The caller closes those that could be opened.
func TryAll(ctx context.Context, s *settings.Settings, log *slog.Logger) ([]Tried, error) {
	if err := checkShow(s); err != nil {
		return nil, err
	}
	own, containers := try(ctx, s, log, "local", openLocal), try(ctx, s, log, "docker", openDocker)
	own.Chosen = own.Err == nil && (containers.Err != nil || own.Backend.Info().Tier == "full")
	containers.Chosen = containers.Err == nil && !own.Chosen
	all := []Tried{own, containers}
	if s.Sandbox.Backend == "hosted" {
		all = append(all, try(ctx, s, log, "hosted", hosted.OpenSandbox))
	}
	return all, nil
}

// try opens a backend.
func try[B sandbox.Backend](ctx context.Context, s *settings.Settings, log *slog.Logger, name string, open func(context.Context, *settings.Settings, *slog.Logger) (B, error)) Tried {
	backend, err := open(ctx, s, log)
	if err != nil {
		return Tried{Name: name, Err: err} // not a nil pointer that is no nil interface
	}
	return Tried{Name: name, Backend: backend}
}
