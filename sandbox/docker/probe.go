package docker

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/handover"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/output"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
)

// probePrefix begins the names of the workspaces of probes. The name of their
// owner follows, so that those of a server that was killed can be removed.
const probePrefix = "skills-mcp-probe-"

// listBytes bounds the list of an image's programs.
const listBytes = 4 << 20

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
	c, err := b.start(ctx, placeOf(sandbox.Spec{Workspace: workspace, Limits: process.WithDefaults(sandbox.Limits{})}, user))
	if err != nil {
		return err
	}
	listed := output.NewStream(output.Config{Keep: listBytes, Limit: listBytes})
	t := c.hand(handover.Order{
		Dir: path.Join(workspaceTarget, filepath.Base(marker)),
		Env: []string{"PATH=" + searchPath},
	}, nil, listed, io.Discard)
	defer context.AfterFunc(ctx, t.Kill)()
	switch report, _ := t.end(); {
	case report == nil:
		return fmt.Errorf("a container ended before it could tell of its programs: %s", t.reply.early)
	case report.Errno != 0:
		return errUnshared
	}
	b.programs = parsePrograms(listed.Output().Data)
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
