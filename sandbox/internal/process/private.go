package process

import (
	"errors"
	"sync"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/disk"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

// ownPrefix begins the names of the private directories of runs without one.
const ownPrefix = "skills-mcp-run-"

// owners are those whose programs run, by their directories.
type owners struct {
	mu   sync.Mutex
	runs map[string]int
}

// private gives a spec a private directory where it has none, and counts the
// run in as one of its owner.
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
	r.owners.mu.Lock()
	defer r.owners.mu.Unlock()
	if r.owners.runs == nil {
		r.owners.runs = make(map[string]int)
	}
	r.owners.runs[dir]++
	return func() {
		r.owners.mu.Lock()
		if r.owners.runs[dir]--; r.owners.runs[dir] == 0 {
			delete(r.owners.runs, dir)
		}
		r.owners.mu.Unlock()
		remove()
	}, nil
}

// tidy makes room in a private directory.
func (r *Runner) tidy(private string) {
	r.owners.mu.Lock()
	retired := scratch.Retire(private, func(dir string) bool { return r.owners.runs[dir] > 0 })
	r.owners.mu.Unlock()
	var err error
	for _, path := range retired {
		err = errors.Join(err, tempdir.Remove(path))
	}
	if len(retired) > 0 {
		r.log.Info("a workspace was full; what other skills have in their HOME, and saved output, is removed", "count", len(retired), "error", err)
	}
}

// restore gives the directories of a run back the modes that a program took
// away.
func (r *Runner) restore(spec sandbox.Spec) {
	workspace, err := disk.RestoreMode(spec.Workspace)
	private, privateErr := scratch.RestoreModes(spec)
	if workspace || private {
		r.log.Warn("a program took away the mode of its workspace, HOME or TMPDIR, which have it again", "error", errors.Join(err, privateErr))
	}
}
