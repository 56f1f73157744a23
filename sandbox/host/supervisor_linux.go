package host

import (
	"errors"
	"os"

	"github.com/skills-mcp/skills-mcp/sandbox/host/internal/child"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
)

const bounded = "time, output and the life of all their processes are bounded"

// prepare checks that supervisors can be started.
func prepare() error {
	if _, err := os.Readlink(supervisor.SelfExe); err != nil {
		return errors.New("/proc is not mounted")
	}
	return nil
}

// tree is a supervisor and the processes below it.
type tree struct{ *supervisor.Tree }

// starter starts programs, each below a supervisor of its own.
type starter struct{ warm warm }

// start has a supervisor start a program. Errors are of type
// [sandbox.SetupError].
func (s *starter) start(what child.Order, streams *process.Streams) (process.Tree, error) {
	t, err := s.warm.run(supervisor.Order{
		Orders:  &what,
		Streams: supervisor.Streams{Stdin: streams.Stdin, Stdout: streams.Stdout, Stderr: streams.Stderr},
	})
	if err != nil {
		return nil, process.StartFailed(err)
	}
	return tree{t}, nil
}

func (s *starter) close() { s.warm.close() }

// Wait implements [process.Tree].
func (t tree) Wait() (process.Ending, error) {
	defer t.Close()
	ended, err := t.Tree.Wait()
	if err != nil {
		return process.Ending{}, process.StartFailed(err)
	}
	return process.Ending{Ending: ended}, nil
}
