package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

const (
	// entryThreads is how many threads the entry program may have besides
	// the processes of the run.
	entryThreads = 16
	// startsAtOnce is how many containers are started at once; more would
	// only wait for each other inside the engine.
	startsAtOnce = 8
)

// place is all that is fixed when a container is created: runs at the same
// place may use each other's spare containers.
type place struct {
	// skillDir, workspace, private and user are empty where files are copied;
	// skillDir may be anyway. The directories are the host's.
	skillDir, workspace, private string

	user        string // "uid:gid"
	memoryBytes int64
	processes   int
}

// placeOf gives the place of a run.
func (b *Backend) placeOf(spec sandbox.Spec) (place, error) {
	at := place{memoryBytes: spec.Limits.MemoryBytes, processes: spec.Limits.Processes}
	if b.copying {
		return at, nil
	}
	at.skillDir, at.workspace, at.private = spec.SkillDir, spec.Workspace, scratch.Owned(spec)
	var err error
	at.user, err = adopt(at.workspace, at.private)
	return at, err
}

// container waits for its one program.
type container struct {
	backend *Backend
	id      string
	place   place
	dirs    []fs.FileInfo // what was bound
	streams *engine.Streams
}

// container gives a container for one run, and tells whether it was started
// ahead.
func (b *Backend) container(ctx context.Context, at place) (c *container, spare bool, err error) {
	if c = b.pool.take(ctx, at); c != nil {
		spare = true
	} else if c, err = b.start(ctx, at); err != nil {
		return nil, false, err
	}
	if err := ctx.Err(); err != nil { // the program is not worth starting
		c.release()
		return nil, false, err
	}
	return c, spare, nil
}

// start creates and starts a container. It does not end early with ctx, lest
// it leave a container behind of which nobody knows.
func (b *Backend) start(ctx context.Context, at place) (*container, error) {
	select {
	case b.starts <- struct{}{}:
		defer func() { <-b.starts }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), enginePatience)
	defer cancel()
	dirs, err := at.stat()
	if err != nil {
		return nil, err
	}
	c := &container{backend: b, place: at, dirs: dirs}
	if c.id, err = b.engine.Create(ctx, b.blueprint(at)); err != nil {
		return nil, fmt.Errorf("create a container: %w", err)
	}
	if b.engine.Podman && !c.fresh() {
		c.dropMade()
		err = errGone
	} else if c.streams, err = b.engine.Attach(ctx, c.id); err == nil {
		err = b.engine.Start(ctx, c.id)
	}
	if err != nil {
		err = fmt.Errorf("start a container: %w", err)
		if c.streams != nil {
			err = errors.Join(err, c.streams.Conn.Close())
		}
		return nil, errors.Join(err, b.engine.Remove(ctx, c.id))
	}
	return c, nil
}

var errGone = errors.New("a directory is not there any more")

// dropMade removes the directories that Podman makes where those to be shared
// were removed meanwhile. They are empty.
func (c *container) dropMade() {
	for i, name := range c.place.dirs() {
		if info, err := os.Stat(name); err == nil && !os.SameFile(info, c.dirs[i]) {
			os.Remove(name)
		}
	}
}

func (b *Backend) blueprint(at place) engine.Blueprint {
	var binds []engine.Bind
	if at.workspace != "" {
		binds = append(binds,
			engine.Bind{Source: at.workspace, Target: protocol.Workspace},
			engine.Bind{Source: at.private, Target: protocol.Private})
	}
	if at.skillDir != "" {
		binds = append(binds, engine.Bind{Source: at.skillDir, Target: protocol.SkillDir, ReadOnly: true})
	}
	return engine.Blueprint{
		Copying:     b.copying,
		Image:       b.image.ID,
		Runtime:     b.image.runtime,
		Healthcheck: b.image.Healthcheck,
		Command:     []string{protocol.Path},
		User:        at.user,
		Labels:      b.owner.labels(),
		Binds:       binds,
		MemoryBytes: at.memoryBytes,
		Processes:   int64(at.processes) + entryThreads,
	}
}

// dirs are the directories that are bound.
func (at place) dirs() []string {
	return slices.DeleteFunc([]string{at.workspace, at.private, at.skillDir}, func(dir string) bool { return dir == "" })
}

// stat gives the identity of the directories that are bound.
func (at place) stat() ([]fs.FileInfo, error) {
	var infos []fs.FileInfo
	for _, dir := range at.dirs() {
		info, err := os.Stat(dir)
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// fresh tells whether the directories that were bound still have their
// names.
func (c *container) fresh() bool {
	now, err := c.place.stat()
	if err != nil || len(now) != len(c.dirs) {
		return false
	}
	for i := range now {
		if !os.SameFile(now[i], c.dirs[i]) {
			return false
		}
	}
	return true
}

// release lets go of a container, which then ends and is removed by the
// engine.
func (c *container) release() { c.streams.Conn.Close() }

// remove removes a container by force. What cannot be removed now is tried
// again by Close.
func (b *Backend) remove(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), enginePatience)
	defer cancel()
	if err := b.engine.Remove(ctx, id); err != nil {
		b.log.Warn("a container cannot be removed", "container", id, "error", err)
	}
}
