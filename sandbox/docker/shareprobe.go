package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/output"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

// notHere is why a share is not shown as it was asked for.
const notHere = "The engine cannot mount it: its file system, or that of the server's state, does not allow it."

// overlayPath is where the container of the probe has an overlay, and overlayFile
// an executable in it.
const (
	overlayPath = "/srv/skills-mcp"
	overlayFile = "shown"
)

// overlays is whether the engine mounts overlays, which is found out when the
// first run has shares: by one.
type overlays struct {
	mu     sync.Mutex
	known  bool
	mounts bool

	emptyMu sync.Mutex
	empty   *tempdir.Dir // or nil

	usedMu sync.Mutex
	used   map[string]template // the last with changes, by their directory
}

// mountsOverlays reports whether the engine mounts overlays of directories of this
// machine. Podman's service takes no volumes that have no name.
func (b *Backend) mountsOverlays(ctx context.Context) bool {
	if b.copying || b.engine.Podman {
		return false
	}
	b.overlays.mu.Lock()
	defer b.overlays.mu.Unlock()
	if !b.overlays.known {
		err := b.probeOverlay(ctx)
		if err != nil {
			b.log.Warn("the engine mounts no overlays", "error", err)
		}
		b.overlays.known, b.overlays.mounts = ctx.Err() == nil, err == nil
	}
	return b.overlays.mounts
}

// emptyDir returns a directory in which nothing is.
func (b *Backend) emptyDir() (string, error) {
	b.overlays.emptyMu.Lock()
	defer b.overlays.emptyMu.Unlock()
	if b.overlays.empty == nil {
		dir, err := tempdir.New("", emptyPrefix)
		if err != nil {
			return "", err
		}
		b.overlays.empty = dir
	}
	return b.overlays.empty.Path(), nil
}

// emptyPrefix begins the name of an empty directory.
const emptyPrefix = "skills-mcp-docker-empty-"

// probeOverlay runs a container with an overlay as they will be, and looks at what
// it shows of a directory with something hidden.
func (b *Backend) probeOverlay(ctx context.Context) (err error) {
	dir, err := tempdir.New("", probePrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	spec, err := overlaySpec(dir.Path())
	if err != nil {
		return err
	}
	of, err := b.templateOf(spec, b.shareBy(byOverlay, spec.Shares, ""))
	if err != nil {
		return err
	}
	of.overlays[0].target = overlayPath
	c, err := b.start(ctx, of)
	if err != nil {
		return err
	}
	defer c.end()
	listed := output.NewStream(output.Config{Keep: listBytes, Limit: listBytes})
	x, err := c.execute(protocol.Order{Dir: overlayPath, Env: []string{overlayPath}}, spec, listed, io.Discard)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, x.Kill)()
	report, _ := x.end()
	switch shown := strings.Trim(string(listed.Output().Data), "\x00"); {
	case report == nil:
		return fmt.Errorf("a container ended before it could tell of its overlay: %s", x.reply.early)
	case report.Errno != 0:
		return fmt.Errorf("an overlay cannot be written: %w", syscall.Errno(report.Errno))
	case shown != filepath.Join(overlayPath, overlayFile):
		return fmt.Errorf("an overlay shows %q", shown)
	}
	return nil
}

// overlaySpec makes the directories of a run with a share.
func overlaySpec(dir string) (sandbox.Spec, error) {
	at := func(name ...string) string { return filepath.Join(append([]string{dir}, name...)...) }
	spec := sandbox.Spec{
		Workspace: at("workspace"), Private: at("private"), Limits: process.WithDefaults(sandbox.Limits{}),
		Shares: []sandbox.Share{{Path: at("user"), Layers: []string{at("mask"), at("user")}, Access: sandbox.AccessReview, Changes: at("changes")}},
	}
	var errs []error
	for _, name := range []string{
		"workspace", "private", "user", "mask", "changes", filepath.Join("changes", sandbox.UpperDir),
	} {
		errs = append(errs, os.Mkdir(at(name), 0o700))
	}
	for _, name := range []string{overlayFile, "hidden"} {
		errs = append(errs, os.WriteFile(at("user", name), nil, 0o700))
	}
	errs = append(errs, hide(at("mask", "hidden")))
	saved, err := scratch.Open(spec)
	if err == nil {
		saved.Close()
	}
	return spec, errors.Join(append(errs, err)...)
}
