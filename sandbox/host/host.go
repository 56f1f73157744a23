// Package host runs programs directly on this machine, as the server's own
// user, with nothing isolated: they can read and change what that user can,
// and use the network. It is for skills that are trusted as much as the shell
// one types into.
//
// What it does hold to:
//
//   - A run ends at its timeout, at its output limit and when its context
//     ends, and its result comes soon after, whatever the program does.
//   - On Linux no process of a run outlives it, however it detached itself,
//     nor does one outlive the server, even when that is killed: every run
//     has a supervisor, a process that inherits all orphans of the run. It is
//     started while the run before goes on, and waits. What gets away is a
//     process started by someone else for the program (by systemd or an
//     engine it talks to), one of another user (as after sudo), and all of
//     them where the program kills the supervisor, which is its parent and
//     belongs to the same user.
//   - On macOS and other Unix systems the process group dies; a process that
//     makes a session or group of its own gets away.
//   - On Windows the job object dies; a process started in the first moment,
//     before the program was put into the job, gets away.
//   - Programs get a clean environment and no open files but their three
//     streams; core dumps are off and open files are limited (both on Linux).
package host

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
)

// Options configure a [Backend]. The zero value is ready to use.
type Options struct {
	// Logger gets what went wrong but is no client's business. If nil,
	// nothing is logged.
	Logger *slog.Logger
	// Path is the PATH on which programs are found and which they get. If
	// empty, it is the server's own.
	Path string
}

// Backend is a [sandbox.Backend] that isolates nothing.
type Backend struct {
	runner  *process.Runner
	path    process.SearchPath
	starter starter
}

var _ sandbox.Backend = (*Backend)(nil)

// New returns a backend. It starts nothing until the first run. The error wraps
// [sandbox.ErrUnavailable].
func New(options Options) (*Backend, error) {
	if err := prepare(); err != nil {
		return nil, fmt.Errorf("%w: %w", sandbox.ErrUnavailable, err)
	}
	runner := process.NewRunner(info, cmp.Or(options.Logger, slog.New(slog.DiscardHandler)))
	runner.ShowCopies(process.Copies{
		TooLarge: ", and nothing holds back what programs change where it is, which they can as the server's user",
	})
	return &Backend{runner: runner, path: process.NewSearchPath(cmp.Or(options.Path, os.Getenv("PATH")))}, nil
}

var info = sandbox.Info{
	Backend:   "unsafe-host",
	Tier:      "none",
	Notice:    "Nothing is isolated: programs run directly on this machine as the server's user, with all that user's files and the network; only " + bounded + ".",
	Network:   true,
	SkillDir:  "$SKILL_DIR",
	Workspace: "$WORKSPACE",
}

// Info describes the backend.
func (b *Backend) Info() sandbox.Info { return b.runner.Info() }

// Close kills what runs and returns when it is gone.
func (b *Backend) Close() error {
	b.runner.Close()
	b.starter.close()
	return nil
}
