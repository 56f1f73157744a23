package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/handover"
)

// The directories of a run as its program sees them.
const (
	skillTarget     = "/skill"
	workspaceTarget = "/workspace"
)

const (
	// tmpBytes and shmBytes are the sizes of /tmp and /dev/shm, which count
	// as memory of the run.
	tmpBytes = 64 << 20
	shmBytes = 64 << 20
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
	skillDir, workspace string // on the host; skillDir may be empty
	user                string
	memoryBytes         int64
	processes           int
	fileBytes           int64
	openFiles           int
}

func placeOf(spec sandbox.Spec, user string) place {
	return place{
		skillDir: spec.SkillDir, workspace: spec.Workspace, user: user,
		memoryBytes: spec.Limits.MemoryBytes, processes: spec.Limits.Processes,
		fileBytes: spec.Limits.FileBytes, openFiles: spec.Limits.OpenFiles,
	}
}

// container waits for its one program.
type container struct {
	backend *Backend
	id      string
	place   place
	dirs    []fs.FileInfo // what was bound
	streams *streams
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
	if c.id, err = b.engine.create(ctx, b.blueprint(at)); err != nil {
		return nil, fmt.Errorf("create a container: %w", err)
	}
	if c.streams, err = b.engine.attach(ctx, c.id); err == nil {
		err = b.engine.start(ctx, c.id)
	}
	if err != nil {
		err = fmt.Errorf("start a container: %w", err)
		if c.streams != nil {
			err = errors.Join(err, c.streams.conn.Close())
		}
		return nil, errors.Join(err, b.engine.remove(ctx, c.id))
	}
	return c, nil
}

func (b *Backend) blueprint(at place) blueprint {
	binds := []bind{{source: at.workspace, target: workspaceTarget}}
	if at.skillDir != "" {
		binds = append(binds, bind{source: at.skillDir, target: skillTarget, readOnly: true})
	}
	return blueprint{
		image:       b.image.id,
		runtime:     b.image.runtime,
		healthcheck: b.image.healthcheck,
		command:     []string{handover.Path},
		user:        at.user,
		labels:      b.owner.labels(),
		binds:       binds,
		memoryBytes: at.memoryBytes,
		processes:   int64(at.processes) + entryThreads,
		fileBytes:   at.fileBytes,
		openFiles:   int64(at.openFiles),
	}
}

// stat gives the identity of the directories that are bound.
func (at place) stat() ([]fs.FileInfo, error) {
	var infos []fs.FileInfo
	for _, dir := range []string{at.workspace, at.skillDir} {
		if dir == "" {
			continue
		}
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
func (c *container) release() { c.streams.conn.Close() }

// remove removes a container by force. What cannot be removed now is tried
// again by Close.
func (b *Backend) remove(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), enginePatience)
	defer cancel()
	if err := b.engine.remove(ctx, id); err != nil {
		b.log.Warn("a container cannot be removed", "container", id, "error", err)
	}
}
