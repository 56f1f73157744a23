//go:build !linux

package host

import (
	"bytes"
	"os/exec"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
)

// pipeDelay is how long the end of output is waited for that is held open by
// something that is no process of the run any more.
const pipeDelay = time.Second

// command returns what starts a program without a supervisor.
func (p program) command(s *process.Streams) *exec.Cmd {
	command := &exec.Cmd{
		Path: p.Argv[0], Args: p.Argv, Env: p.Env, Dir: p.Dir,
		Stdout: s.Stdout, Stderr: s.Stderr, WaitDelay: pipeDelay,
	}
	if s.Stdin != nil {
		command.Stdin = bytes.NewReader(s.Stdin)
	}
	return command
}
