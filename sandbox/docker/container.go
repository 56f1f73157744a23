package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

const (
	// entryThreads is how many threads the entry program may have besides
	// the processes of the run, its reserve of memory included.
	entryThreads = 17
	// startsAtOnce is how many containers are started at once; more would
	// only wait for each other inside the engine.
	startsAtOnce = 8
)

// template is all that is fixed when a container is created: runs with the same
// may use each other's warm containers.
type template struct {
	// skillDir, workspace, private and user are empty where files are copied;
	// skillDir may be anyway. The directories are the host's.
	skillDir, workspace, private string

	// ephemeral reports that the private directory ends with the run, so that
	// no other run uses such a container.
	ephemeral bool

	// egress reports that programs reach [sandbox.Spec.Egress].
	egress bool

	user        string // "uid:gid"
	memoryBytes int64
	milliCPUs   int // 0 for no bound
	processes   int

	overlays []overlay
	copies   []engine.Bind // of shares; without source where files are copied
	shown    []engine.Bind // of [sandbox.Spec.Show] and Library
}

func (of template) equal(other template) bool { return reflect.DeepEqual(of, other) }

// templateOf returns the template of a run.
func (b *Backend) templateOf(spec sandbox.Spec, by sharing) (template, error) {
	of := template{
		egress:      spec.Egress != nil && b.egress,
		memoryBytes: spec.Limits.MemoryBytes, processes: spec.Limits.Processes,
	}
	if spec.Limits.MilliCPUs < b.milliCPUs {
		of.milliCPUs = spec.Limits.MilliCPUs
	}
	if b.copying {
		of.copies = append(libraryOf(spec), copiesOf(by)...)
		for i := range of.copies {
			of.copies[i].Source = ""
		}
		return of, nil
	}
	of.skillDir, of.workspace, of.private = spec.SkillDir, spec.Workspace, scratch.Owned(spec)
	var err error
	of.user, err = userOf(of.workspace, of.private)
	of.overlays, of.copies = overlaysOf(spec.Shares, by, of.user), copiesOf(by)
	covers, shown := show(spec, by, of.user)
	of.overlays, of.shown = append(of.overlays, covers...), shown
	return of, err
}

// binds are the directories that are shared.
func (of template) binds() (binds []engine.Bind) {
	all := slices.Concat([]engine.Bind{
		{Source: of.workspace, Target: protocol.Workspace},
		{Source: of.private, Target: protocol.Private},
		{Source: of.skillDir, Target: protocol.SkillDir, ReadOnly: true},
	}, of.copies, of.shown)
	for _, bind := range all {
		if bind.Source != "" {
			binds = append(binds, bind)
		}
	}
	return binds
}

// stat returns the identity of the directories that are shared.
func (of template) stat() ([]fs.FileInfo, error) {
	var dirs []string
	for _, bind := range of.binds() {
		dirs = append(dirs, bind.Source)
	}
	for _, o := range of.overlays {
		dirs = append(dirs, o.dirs()...)
	}
	return statAll(dirs)
}

func statAll(dirs []string) (infos []fs.FileInfo, err error) {
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

func (b *Backend) blueprintOf(of template, volumes []engine.Volume) engine.Blueprint {
	blueprint := b.blueprint
	blueprint.Volumes = volumes
	for _, tree := range of.copies {
		blueprint.Trees = append(blueprint.Trees, engine.Tree{Target: tree.Target, Writable: !tree.ReadOnly})
	}
	blueprint.Copying, blueprint.User, blueprint.Binds = b.copying, of.user, of.binds()
	blueprint.NanoCPUs = int64(of.milliCPUs) * 1e6
	blueprint.MemoryBytes, blueprint.Processes = of.memoryBytes, int64(of.processes)+entryThreads
	return blueprint
}

// container waits for its one program.
type container struct {
	backend  *Backend
	id       string
	template template
	dirs     []fs.FileInfo // what was bound, and mounted
	made     []fs.FileInfo // what the kernel made in overlays
	streams  *engine.Streams
	passage  *passage // until the listener is there
	listener *os.File // of the program's connections, or nil
	names    string   // the directory of its files of names, or empty
}

// listenTimeout is how long the entry program may take to pass its listener.
const listenTimeout = 30 * time.Second

// start creates and starts a container for a program.
func (b *Backend) start(ctx context.Context, of template) (*container, error) {
	c, err := b.boot(ctx, of)
	if err != nil || !of.egress {
		return c, err
	}
	if err := c.listen(listenTimeout); err != nil {
		c.release()
		b.remove(c.id)
		return nil, fmt.Errorf("connect a container: %w", err)
	}
	return c, nil
}

// listen takes the listener that the entry program passes.
func (c *container) listen(timeout time.Duration) (err error) {
	c.listener, err = c.passage.receive(timeout)
	return errors.Join(err, c.passage.close())
}

// boot creates and starts a container. It does not end early with ctx, so that
// it leaves no unknown container behind.
func (b *Backend) boot(ctx context.Context, of template) (_ *container, err error) {
	select {
	case b.starts <- struct{}{}:
		defer func() { <-b.starts }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), engineTimeout)
	defer cancel()
	volumes, release, err := b.volumes(of)
	if err != nil {
		return nil, err
	}
	defer release()
	dirs, err := of.stat()
	if err != nil {
		return nil, err
	}
	c := &container{backend: b, template: of, dirs: dirs}
	blueprint := b.blueprintOf(of, volumes)
	defer func() {
		if err != nil {
			c.removeNames()
		}
	}()
	if err := c.bindNames(&blueprint); err != nil {
		return nil, err
	}
	if of.egress {
		if c.passage, err = openPassage(); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, c.passage.close())
			}
		}()
		c.passage.putInto(&blueprint)
	}
	if c.id, err = b.engine.Create(ctx, blueprint); err != nil {
		return nil, fmt.Errorf("create a container: %w", err)
	}
	if b.engine.Podman && !c.fresh() {
		c.removeMade()
		err = errGone
	} else if c.streams, err = b.engine.Attach(ctx, c.id); err == nil {
		err = c.begin(ctx)
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

// begin has the engine start a container, which mounts its overlays.
func (c *container) begin(ctx context.Context) (err error) {
	err = c.backend.engine.Start(ctx, c.id)
	if len(c.template.overlays) == 0 {
		return err
	}
	if err == nil {
		c.backend.use(c.template)
		c.made, err = statAll(c.template.kernelDirs())
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", errNoOverlay, err)
	}
	return err
}

var errGone = errors.New("a directory is not there any more")

// removeMade removes the directories that Podman makes where those to be shared
// were removed meanwhile. They are empty.
func (c *container) removeMade() {
	for i, bind := range c.template.binds() {
		if info, err := os.Stat(bind.Source); err == nil && !os.SameFile(info, c.dirs[i]) {
			os.Remove(bind.Source)
		}
	}
}

// fresh reports whether the directories that were bound or mounted still have
// their names.
func (c *container) fresh() bool {
	now, err := c.template.stat()
	if err != nil || !slices.EqualFunc(now, c.dirs, os.SameFile) {
		return false
	}
	if c.made == nil { // it is not started
		return true
	}
	now, err = statAll(c.template.kernelDirs())
	return err == nil && slices.EqualFunc(now, c.made, os.SameFile)
}

// release lets go of a container, which then ends and is removed by the
// engine.
func (c *container) release() {
	c.streams.Conn.Close()
	if c.listener != nil {
		c.listener.Close()
	}
	c.removeNames()
}

// end lets go of a container and returns when it uses no changes any more.
func (c *container) end() {
	c.release()
	if len(c.template.changes()) > 0 {
		c.backend.remove(c.id)
	}
}

// remove removes a container by force. What cannot be removed now is tried
// again by Close.
func (b *Backend) remove(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), engineTimeout)
	defer cancel()
	if err := b.engine.Remove(ctx, id); err != nil {
		b.log.Warn("a container cannot be removed", "container", id, "error", err)
	}
}
