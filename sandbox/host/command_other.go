//go:build !linux

package host

import (
	"bytes"
	"os/exec"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/host/internal/child"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
)

// pipeDelay is how long the end of output is waited for that is held open by
// something that is no process of the run any more.
const pipeDelay = time.Second

// starter starts programs.
type starter struct{}

func (starter) close() {}

// commandOf returns what starts a program without a supervisor.
func commandOf(what child.Order, s *process.Streams) *exec.Cmd {
	command := &exec.Cmd{
		Path: what.Argv[0], Args: what.Argv, Env: what.Env, Dir: what.Dir,
		Stdout: s.Stdout, Stderr: s.Stderr, WaitDelay: pipeDelay,
	}
	if s.Stdin != nil {
		command.Stdin = bytes.NewReader(s.Stdin)
	}
	return command
}
