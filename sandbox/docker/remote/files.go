package remote

import (
	"bufio"
	"errors"
	"io"
	"os"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/transfer"
)

// maxReturned is how many files, directories and links a container may send
// back, removals included. It is more than a workspace holds by default.
const maxReturned = 200_000

// files are those of one run on their way to a container and back.
type files struct {
	skill, workspace *os.Root // skill may be nil
	sent             *transfer.Snapshot
	bounds           transfer.Bounds

	back     *io.PipeWriter
	received chan struct{} // closed when all is stored that came back
	skipped  int
	err      error
}

// OpenFiles implements [docker.Remote].
func (Access) OpenFiles(spec sandbox.Spec) (docker.Files, error) {
	workspace, err := os.OpenRoot(spec.Workspace)
	if err != nil {
		return nil, sandbox.MissingDir("workspace", err)
	}
	f := &files{workspace: workspace, received: make(chan struct{})}
	if spec.SkillDir != "" {
		if f.skill, err = os.OpenRoot(spec.SkillDir); err != nil {
			return nil, errors.Join(sandbox.MissingDir("skill", err), workspace.Close())
		}
	}
	f.sent = transfer.List(workspace)
	_ = workspace.Mkdir(sandbox.PrivateDir, 0o700) // else what comes back is at the top until it is whole
	f.bounds = transfer.Bounds{
		Bytes:     engine.WorkspaceBytes(spec.Limits.MemoryBytes),
		FileBytes: max(spec.Limits.FileBytes, f.sent.Largest()), // which may have another name now
		Entries:   maxReturned,
		Removable: f.sent.Has,
		Staging:   sandbox.PrivateDir,
	}
	var back *io.PipeReader
	back, f.back = io.Pipe()
	go f.receive(back)
	return f, nil
}

// Send implements [docker.Files].
func (f *files) Send(w io.Writer) error {
	skill := new(transfer.Snapshot)
	if f.skill != nil {
		skill = transfer.List(f.skill)
	}
	if err := skill.Send(w, f.skill); err != nil {
		return err
	}
	return f.sent.Send(w, f.workspace)
}

// Write implements [docker.Files].
func (f *files) Write(p []byte) (int, error) { return f.back.Write(p) }

func (f *files) receive(back *io.PipeReader) {
	defer close(f.received)
	f.skipped, f.err = transfer.Receive(bufio.NewReader(back), f.workspace, f.bounds)
	io.Copy(io.Discard, back) // so that Write never waits
}

// Close implements [docker.Files].
func (f *files) Close() (skipped int, err error) {
	f.back.Close()
	<-f.received
	if f.skill != nil {
		f.skill.Close()
	}
	f.workspace.Close()
	return f.skipped, f.err
}
