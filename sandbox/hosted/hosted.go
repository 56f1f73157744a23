// Package hosted runs programs in containers of the Claude API, which belong to
// somebody else, and in which a model alone can start anything: it is asked to run
// one command, and what it did is held to that. It is for skills that need what
// those containers have, for users who send their skills and workspaces there
// anyway.
//
// Each run has a new container. The version of the skill is pushed if it is not there
// yet; the files of the workspace, and a script that names the program, its
// arguments, input and limits, are uploaded. The command that the model has to say
// names that script by its hash and nothing else. A result is taken only where this
// command was the first and only use of a tool, byte for byte, and where the
// script's own frame says that it came to its end: no text of the model is ever
// read. What the program wrote and changed comes back as one file, by its digest,
// and so is not read by the model either.
//
// What it cannot do:
//
//   - Nothing here kills what runs there. The script ends the program at its
//     limits; where a run is canceled, or the server ends, only the wait does.
//   - Containers and what was uploaded stay with the API as long as it keeps them,
//     where the server is killed before it deletes the latter.
//   - No hosts, packages, secrets or directories of the user can be granted: what
//     holds a secret is not sent.
//
// Each run costs tokens, which are logged.
package hosted

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"github.com/skills-mcp/skills-mcp/internal/anthropic"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
)

// Skill is a version of a skill that the API keeps.
type Skill struct {
	// ID and Version are those of the API.
	ID, Version string
	// Name is that in its SKILL.md, and so that of its directory in containers.
	Name string
}

// Options configure a [Backend].
type Options struct {
	// API makes requests. Required.
	API *anthropic.Client
	// Model is asked to run what is to be run. Required.
	Model string
	// Push returns the version of the skill in a directory, of which nothing
	// changes meanwhile, and uploads it first where the API does not have it. Its
	// error is one of package anthropic or of type [sandbox.SetupError]. It is
	// called by several goroutines. Required.
	Push func(ctx context.Context, dir string) (Skill, error)
	// Logger gets what a run costs, and what went wrong but is no client's
	// business. If nil, nothing is logged.
	Logger *slog.Logger
}

// Backend is a [sandbox.Backend] of containers of the Claude API.
type Backend struct {
	options Options
	log     *slog.Logger
	runner  *process.Runner
	sent    sent
}

var _ sandbox.Backend = (*Backend)(nil)

// New returns a backend. Nothing is asked of the API until the first run.
func New(options Options) (*Backend, error) {
	if options.Model == "" {
		return nil, errors.New("which model is asked, and paid for, has to be said: set hosted.model in the configuration, or SKILLS_MCP_HOSTED_MODEL, to one that has the tool " + anthropic.CodeExecution)
	}
	b := &Backend{options: options, log: cmp.Or(options.Logger, slog.New(slog.DiscardHandler))}
	b.runner = process.NewRunner(info, b.log)
	b.sent = sent{api: options.API, log: b.log}
	return b, nil
}

var info = sandbox.Info{
	Backend: "hosted",
	Tier:    "somebody else's",
	Notice: "Programs run in a container of the Claude API, which a model is asked to start them in: the skill and the whole workspace are sent there, " +
		"each run costs tokens, and nothing here can kill what runs there; results of anything but the one command are refused.",
	Costly:    true,
	SkillDir:  "$SKILL_DIR",
	Workspace: "$WORKSPACE",
	Image:     anthropic.CodeExecution,
}

// Info describes the backend.
func (b *Backend) Info() sandbox.Info { return b.runner.Info() }

// Close ends the wait for what runs, and deletes what was uploaded.
func (b *Backend) Close() error {
	b.runner.Close()
	b.sent.close()
	return nil
}
