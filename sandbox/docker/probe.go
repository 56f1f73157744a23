package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/output"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

// probePrefix begins the names of the directories of probes. It is not that of
// another backend's, which would take them for left behind.
const probePrefix = "skills-mcp-docker-probe-"

// listBytes bounds the list of an image's programs.
const listBytes = 4 << 20

// probe runs a container as they all will be, and asks it which programs
// there are and what bounds it has.
func (b *Backend) probe(ctx context.Context) (err error) {
	dir, err := tempdir.New("", probePrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	// Its owner may be changed; that of dir tells whose it is.
	workspace, private := filepath.Join(dir.Path(), "workspace"), filepath.Join(dir.Path(), "private")
	if err := errors.Join(os.Mkdir(workspace, 0o700), os.Mkdir(private, 0o700)); err != nil {
		return err
	}
	// An engine that has another directory of that name does not have this.
	marker, err := os.MkdirTemp(workspace, "")
	if err != nil {
		return err
	}
	spec := sandbox.Spec{Workspace: workspace, Private: private, Limits: process.WithDefaults(sandbox.Limits{})}
	saved, err := scratch.Open(spec)
	if err != nil {
		return err
	}
	saved.Close()
	of, err := b.templateOf(spec, sharing{})
	if err != nil {
		return err
	}
	c, err := b.start(ctx, of)
	if err != nil {
		return err
	}
	listed := output.NewStream(output.Config{Keep: listBytes, Limit: listBytes})
	x, err := c.execute(protocol.Order{
		Dir: path.Join(protocol.Workspace, filepath.Base(marker)),
		Env: strings.Split(searchPath, ":"), Files: b.copying,
	}, spec, listed, io.Discard)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, x.Kill)()
	report, _ := x.end()
	_, lost := x.closeFiles()
	switch {
	case report == nil:
		return fmt.Errorf("a container ended before it could tell of its programs: %s", x.reply.early)
	case report.Errno != 0 && !b.copying:
		return engine.ErrUnshared
	case report.Errno != 0 || lost:
		return fmt.Errorf("files cannot be copied: %w", syscall.Errno(report.Errno))
	}
	if err := b.blueprintOf(of, nil).CheckBounds(report.MemoryBytes, report.Processes); err != nil {
		return err
	}
	b.programs = parsePrograms(listed.Output().Data)
	return nil
}
