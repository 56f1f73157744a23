package remote

import (
	"bufio"
	"io"
	"os"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/transfer"
)

// maxReturned is how many files, directories and links a container may send
// back, removals included. It is more than a workspace holds by default.
const maxReturned = 200_000

// files are those of one run on their way to a container and back.
type files struct {
	skill     *os.Root   // may be nil
	read      []*os.Root // the library, if there is one, and shares
	workspace tree
	write     []tree

	back     *io.PipeWriter
	received chan struct{} // closed when all is stored that came back
	skipped  int
	err      error
}

// tree is a directory of which what has changed comes back.
type tree struct {
	root   *os.Root
	sent   *transfer.Snapshot
	bounds transfer.Bounds
}

// newTree returns a tree of a directory, of which no more comes back than a
// number of bytes.
func newTree(root *os.Root, spec sandbox.Spec, bytes int64) tree {
	sent := transfer.List(root)
	return tree{root, sent, transfer.Bounds{
		Bytes:     bytes,
		FileBytes: max(spec.Limits.FileBytes, sent.Largest()), // which may have another name now
		Entries:   maxReturned,
		Removable: sent.Has,
	}}
}

// OpenFiles implements [docker.Remote].
func (Access) OpenFiles(spec sandbox.Spec) (_ docker.Files, err error) {
	f := &files{received: make(chan struct{})}
	defer func() {
		if err != nil {
			f.closeAll()
		}
	}()
	workspace, err := os.OpenRoot(spec.Workspace)
	if err != nil {
		return nil, sandbox.MissingDir("workspace", err)
	}
	f.workspace = newTree(workspace, spec, engine.WorkspaceBytes(spec.Limits.MemoryBytes))
	if spec.SkillDir != "" {
		if f.skill, err = os.OpenRoot(spec.SkillDir); err != nil {
			return nil, sandbox.MissingDir("skill", err)
		}
	}
	if spec.Library != "" {
		library, err := os.OpenRoot(spec.Library)
		if err != nil {
			return nil, sandbox.MissingDir("library", err)
		}
		f.read = append(f.read, library)
	}
	if err := f.openShares(spec); err != nil {
		return nil, sandbox.MissingDir("project", err)
	}
	_ = workspace.Mkdir(sandbox.PrivateDir, 0o700) // else what comes back is at the top until it is whole
	f.workspace.bounds.Staging = sandbox.PrivateDir
	var back *io.PipeReader
	back, f.back = io.Pipe()
	go f.receive(back)
	return f, nil
}

// openShares opens the copies of what is shared.
func (f *files) openShares(spec sandbox.Spec) error {
	for _, share := range spec.Shares {
		if share.Access == sandbox.AccessOff {
			continue
		}
		root, err := os.OpenRoot(share.Layers[0])
		if err != nil {
			return err
		}
		if share.Access == sandbox.AccessRead {
			f.read = append(f.read, root)
		} else {
			f.write = append(f.write, newTree(root, spec, engine.TreesBytes(spec.Limits.MemoryBytes)))
		}
	}
	return nil
}

// closeAll closes all directories.
func (f *files) closeAll() {
	roots := append(f.read, f.skill, f.workspace.root)
	for _, tree := range f.write {
		roots = append(roots, tree.root)
	}
	for _, root := range roots {
		if root != nil {
			root.Close()
		}
	}
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
	for _, root := range f.read {
		if err := transfer.List(root).Send(w, root); err != nil {
			return err
		}
	}
	for _, tree := range f.changeable() {
		if err := tree.sent.Send(w, tree.root); err != nil {
			return err
		}
	}
	return nil
}

// changeable are the trees of which something comes back, in their order.
func (f *files) changeable() []tree { return append([]tree{f.workspace}, f.write...) }

// Write implements [docker.Files].
func (f *files) Write(p []byte) (int, error) { return f.back.Write(p) }

func (f *files) receive(back *io.PipeReader) {
	defer close(f.received)
	from := bufio.NewReader(back)
	for _, tree := range f.changeable() {
		skipped, err := transfer.Receive(from, tree.root, tree.bounds)
		f.skipped += skipped
		if f.err = err; err != nil {
			break // where the next one begins cannot be told
		}
	}
	io.Copy(io.Discard, back) // so that Write never waits
}

// Close implements [docker.Files].
func (f *files) Close() (skipped int, err error) {
	f.back.Close()
	<-f.received
	f.closeAll()
	return f.skipped, f.err
}
