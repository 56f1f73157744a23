// Package local runs programs on this machine in a sandbox made of what the
// Linux kernel has: no root, no engine and no other binary is needed.
//
// A program sees the system's own programs and libraries, its skill at /skill,
// its workspace at /workspace and, at /private, what is of its skill alone; it may
// write the latter two. It has no network but a loopback interface of its own,
// no other process and no file besides. There are two tiers:
//
//   - full: namespaces of its own for users, mounts, processes, network, IPC
//     and host name, with a file system built for it; and on top of these all
//     that restricted has.
//   - restricted, where the system refuses namespaces: Landlock and seccomp in
//     the server's own namespaces, without any network. What that leaves open,
//     the Notice says.
//
// The programs of a server that is root run as "nobody".
//
// Which holds is found by running a program in it once. Where neither can be
// had, there is no backend: nothing ever runs with less than what
// [Backend.Info] says.
package local

import (
	"cmp"
	"context"
	"log/slog"
	"slices"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
)

// Tier is how much is isolated.
type Tier string

// The tiers.
const (
	Full       Tier = "full"
	Restricted Tier = "restricted"
)

// The directories of a run as programs see them in the tier [Full].
const (
	skillDir  = "/skill"
	workspace = "/workspace"
	private   = "/private" // with HOME and TMPDIR
)

// Options configure a [Backend]. The zero value is ready to use.
type Options struct {
	// Logger gets what went wrong but is no client's business. If nil,
	// nothing is logged.
	Logger *slog.Logger
	// Path is the PATH on which interpreters are looked for that are not
	// among the system's programs, such as those of pyenv, nvm or Homebrew.
	// If empty, it is the server's own.
	Path string
	// Project is the user's directory, whose virtual environment ".venv" is
	// used where none is active. If empty, it is the working directory.
	Project string
	// Show are files and directories that programs may read besides, as
	// [CheckShow] returned them.
	Show []string
	// Tier is the only one to take. If empty, it is the best there is.
	Tier Tier
}

// Backend is a [sandbox.Backend] on this machine.
type Backend struct {
	runner *process.Runner
	system
}

var _ sandbox.Backend = (*Backend)(nil)

// New returns a backend once a program has run in it. The error wraps
// [sandbox.ErrUnavailable], and says why and what would fix it.
func New(ctx context.Context, options Options) (*Backend, error) {
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	options.Show = slices.Clone(options.Show)
	for i, name := range options.Show {
		var err error
		if options.Show[i], err = CheckShow(name); err != nil {
			return nil, err
		}
	}
	return open(ctx, options)
}

// Run implements [sandbox.Backend].
func (b *Backend) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	return b.runner.Run(ctx, spec, b.check)
}

// Info describes the backend.
func (b *Backend) Info() sandbox.Info { return b.runner.Info() }

// Close kills what runs and returns when it is gone.
func (b *Backend) Close() error {
	b.runner.Close()
	b.release()
	return nil
}
