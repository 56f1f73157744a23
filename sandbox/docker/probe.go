package docker

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/handover"
)

// probePrefix begins the names of the workspaces of probes. The name of their
// owner follows, so that those of a server that was killed can be removed.
const probePrefix = "skills-mcp-probe-"

// probe runs a container as they all will be, and asks it which programs
// there are.
func (b *Backend) probe(ctx context.Context) error {
	reapProbes()
	workspace, err := os.MkdirTemp("", probePrefix+strings.ReplaceAll(b.owner.process, "/", "_")+".")
	if err != nil {
		return err
	}
	defer os.RemoveAll(workspace)
	// An engine that has another directory of that name does not have this.
	marker, err := os.MkdirTemp(workspace, "")
	if err != nil {
		return err
	}
	user, err := adopt(workspace)
	if err != nil {
		return err
	}
	spec := sandbox.Spec{Workspace: workspace, Limits: withDefaults(sandbox.Limits{})}
	c, err := b.start(ctx, placeOf(spec, user))
	if err != nil {
		return err
	}
	spec.Limits.OutputBytes = spec.Limits.SpillBytes
	capture := newCapture(spec, nil, nil)
	ended := c.run(ctx, handover.Order{
		Dir: path.Join(workspaceTarget, filepath.Base(marker)),
		Env: []string{"PATH=" + searchPath},
	}, nil, capture)
	capture.close(b.log)
	switch {
	case ended.report == nil:
		return fmt.Errorf("a container ended before it could tell of its programs: %s", capture.stderr.Output().Data)
	case ended.report.Errno != 0:
		return errUnshared
	}
	b.programs = parsePrograms(capture.stdout.Output().Data)
	return nil
}

func reapProbes() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), probePrefix+"*")) // the pattern is well-formed
	for _, dir := range left {
		name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), probePrefix), ".")
		if isGone(strings.ReplaceAll(name, "_", "/")) {
			os.RemoveAll(dir) // another user's cannot be removed, nor need it be
		}
	}
}
