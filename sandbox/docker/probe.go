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
	"time"

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

// passedTimeout is more than it takes to receive what was passed before.
const passedTimeout = time.Second

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
	spec, marker, err := probeSpec(dir.Path())
	if err != nil {
		return err
	}
	of, err := b.templateOf(spec, sharing{})
	if err != nil {
		return err
	}
	of.egress = !b.copying
	c, err := b.boot(ctx, of)
	if err != nil && of.egress && !errors.Is(err, engine.ErrUnshared) {
		of.egress = false
		c, err = b.boot(ctx, of)
	}
	if err != nil {
		return err
	}
	listed := output.NewStream(output.Config{Keep: listBytes, Limit: listBytes})
	x, err := c.execute(protocol.Order{
		Dir: path.Join(protocol.Workspace, marker),
		Env: strings.Split(b.searchPath, ":"), Files: b.copying,
	}, spec, listed, io.Discard)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, x.Kill)()
	if of.egress { // it has passed its listener before it takes an order
		x.started(ctx)
		err := c.listen(passedTimeout)
		if b.egress = err == nil; err != nil {
			b.log.Debug("programs cannot be given the network", "error", err)
		}
	}
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

// probeSpec makes the directories of a run. An engine that has another directory of
// the workspace's name does not have the marker in it.
func probeSpec(dir string) (spec sandbox.Spec, marker string, err error) {
	// Its owner may be changed; that of dir tells whose it is.
	workspace, private := filepath.Join(dir, "workspace"), filepath.Join(dir, "private")
	if err := errors.Join(os.Mkdir(workspace, 0o700), os.Mkdir(private, 0o700)); err != nil {
		return spec, "", err
	}
	marked, err := os.MkdirTemp(workspace, "")
	if err != nil {
		return spec, "", err
	}
	spec = sandbox.Spec{Workspace: workspace, Private: private, Limits: process.WithDefaults(sandbox.Limits{})}
	saved, err := scratch.Open(spec)
	if err == nil {
		saved.Close()
	}
	return spec, filepath.Base(marked), err
}
