package process

import (
	"errors"
	"io/fs"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/disk"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

// ownPrefix begins the names of the private directories of runs without one.
const ownPrefix = "skills-mcp-run-"

// private adds a private directory to a spec that has none, and counts the run
// in as one of its owner.
func (r *Runner) private(spec *sandbox.Spec) (release func(), err error) {
	remove := func() {}
	if spec.Private == "" {
		dir, err := tempdir.New("", ownPrefix)
		if err != nil {
			return nil, err
		}
		spec.Private = dir.Path()
		remove = func() {
			if err := dir.Close(); err != nil {
				r.log.Warn("the private directory of a run cannot be removed", "error", err)
			}
		}
	}
	dir := scratch.Owned(*spec)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owners[dir]++
	return func() {
		r.mu.Lock()
		if r.owners[dir]--; r.owners[dir] == 0 {
			delete(r.owners, dir)
		}
		r.mu.Unlock()
		remove()
	}, nil
}

// tidy makes room in a private directory.
func (r *Runner) tidy(private string) {
	r.mu.Lock()
	retired := scratch.Retire(private, func(dir string) bool { return r.owners[dir] > 0 })
	r.mu.Unlock()
	var err error
	for _, path := range retired {
		err = errors.Join(err, tempdir.Remove(path))
	}
	if len(retired) > 0 {
		r.log.Info("a workspace was full; what other skills have in their HOME, and saved output, is removed", "count", len(retired), "error", err)
	}
}

// restore restores the modes that a program took away from the directories of a
// run.
func (r *Runner) restore(spec sandbox.Spec) {
	restored, err := scratch.RestoreModes(spec)
	workspace, workspaceErr := disk.RestoreMode(spec.Workspace)
	restored, err = restored || workspace, errors.Join(err, workspaceErr)
	for _, dir := range append(uppersOf(spec.Shares), r.copiesOf(spec)...) {
		again, dirErr := disk.RestoreReading(dir)
		restored = restored || again
		if !errors.Is(dirErr, fs.ErrNotExist) {
			err = errors.Join(err, dirErr)
		}
	}
	if restored {
		r.log.Warn("a program took away the mode of its workspace, HOME, TMPDIR or project, which have it again", "error", err)
	}
}
