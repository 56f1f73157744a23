package docker

import (
	"bufio"
	"errors"
	"io"
	"os"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/transfer"
)

// maxReturned is how many files, directories and links a container may send
// back, removals included. It is more than a workspace holds by default.
const maxReturned = 200_000

// copies are the files of one run on their way to a container and back, where
// the engine cannot share directories.
type copies struct {
	skill, workspace *os.Root // skill may be nil
	sent             *transfer.Tree
	bounds           transfer.Bounds

	back     *io.PipeWriter
	received chan struct{} // closed when all is stored that came back
	skipped  int           // as in [process.Ending]
	err      error
}

// openCopies opens the directories of a run. It is to be closed.
func openCopies(spec sandbox.Spec) (*copies, error) {
	workspace, err := os.OpenRoot(spec.Workspace)
	if err != nil {
		return nil, sandbox.MissingDir("workspace", err)
	}
	c := &copies{workspace: workspace, received: make(chan struct{})}
	if spec.SkillDir != "" {
		if c.skill, err = os.OpenRoot(spec.SkillDir); err != nil {
			return nil, errors.Join(sandbox.MissingDir("skill", err), workspace.Close())
		}
	}
	c.sent = transfer.List(workspace)
	_ = workspace.Mkdir(sandbox.PrivateDir, 0o700) // else what comes back is at the top until it is whole
	c.bounds = transfer.Bounds{
		Bytes:     engine.WorkspaceBytes(spec.Limits.MemoryBytes),
		FileBytes: max(spec.Limits.FileBytes, c.sent.Largest()), // which may have another name now
		Entries:   maxReturned,
		Removable: c.sent.Has,
		Staging:   sandbox.PrivateDir,
	}
	var back *io.PipeReader
	back, c.back = io.Pipe()
	go c.receive(back)
	return c, nil
}

// send writes the files of the skill and of the workspace.
func (c *copies) send(w io.Writer) error {
	skill := new(transfer.Tree)
	if c.skill != nil {
		skill = transfer.List(c.skill)
	}
	if err := skill.Send(w, c.skill); err != nil {
		return err
	}
	return c.sent.Send(w, c.workspace)
}

func (c *copies) receive(back *io.PipeReader) {
	defer close(c.received)
	c.skipped, c.err = transfer.Receive(bufio.NewReader(back), c.workspace, c.bounds)
	io.Copy(io.Discard, back) // so that nobody waits
}

// close returns when what came back is stored. The error tells that something
// is missing.
func (c *copies) close() error {
	c.back.Close()
	<-c.received
	if c.skill != nil {
		c.skill.Close()
	}
	c.workspace.Close()
	return c.err
}
