// Package docker runs programs in containers of a Docker or Podman engine, one
// hardened container for each run: no network but a loopback interface of its
// own, no capabilities, an ordinary user, a read-only root file system, the
// skill's directory read-only at /skill, the workspace at /workspace and what is
// of the skill alone at /private, and bounds on memory, processes, open files and
// file size. The engine's default seccomp profile holds, and a filter of this
// project's on top of it. Nothing else of the host is visible. As with every
// container the kernel is shared with the host, unless the engine's runtime has
// one of its own.
//
// A container's first process is the entry program that the image brings: it
// waits for what to run, and ends with all that it started when it has run
// that, when the server lets go, and when the server dies. So containers can
// be started ahead, and none outlives its server. Each is used once.
//
// Where the engine cannot share directories with the server, as on another
// machine, a [Remote] copies the files of both to the container, and back what
// the program has changed in the workspace. There they are in memory: the
// workspace has half of what the run may use, the skill a quarter, and HOME and
// TMPDIR, which end with the run, an eighth. The first process is root, without
// what makes root dangerous, until the program starts.
//
// A program's input waits in the memory of its container, and counts as such.
// Where the server is root, programs run as nobody: what they are to read must
// be readable to all.
//
// What is created carries labels that name its server. [New] removes what a
// server that is gone left in the engine; others' containers are left alone.
package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
)

// DefaultImage is the image that "skills-mcp image build" builds.
const DefaultImage = "skills-mcp/sandbox:latest"

const (
	// openTimeout bounds New, so that an engine that hangs keeps no server
	// from starting.
	openTimeout = 30 * time.Second
	// engineTimeout bounds everything else that an engine is asked to do.
	engineTimeout = time.Minute
)

// Options configure a [Backend]. The zero value is ready to use.
type Options struct {
	// Host is the engine's address, such as "unix:///run/podman/podman.sock",
	// "tcp://HOST:2376" with what DOCKER_TLS_VERIFY and DOCKER_CERT_PATH say,
	// or "ssh://USER@HOST". If empty, the first engine that answers is taken:
	// only that of the environment variable DOCKER_HOST, or else of the
	// context of Docker's command, where there is one; else at
	// /var/run/docker.sock, $XDG_RUNTIME_DIR/docker.sock,
	// $XDG_RUNTIME_DIR/podman/podman.sock and /run/podman/podman.sock.
	Host string
	// Remote makes engines usable that share no directories with the server,
	// as on another machine. If nil, they are not.
	Remote Remote
	// Image names an image that the engine has, with the entry program. If
	// empty, [DefaultImage].
	Image string
	// Runtime is the engine's runtime for the containers, such as "runsc", one
	// of those that "docker info" lists. If empty, the engine's default.
	// Podman's is chosen where its service is started.
	Runtime string
	// Logger gets what went wrong but is no client's business. If nil,
	// nothing is logged.
	Logger *slog.Logger
}

// Backend is a [sandbox.Backend] that runs programs in containers.
type Backend struct {
	log    *slog.Logger
	runner *process.Runner
	engine *engine.Engine
	remote Remote            // nil if all directories are shared
	labels map[string]string // of all containers
	// blueprint is what all containers have in common.
	blueprint engine.Blueprint
	// copying means that skills and workspaces are not shared with containers
	// as directories: their files are sent there, and changed ones back.
	copying bool
	// milliCPUs is from where on processor time need not be bounded; 0 where it
	// cannot be.
	milliCPUs int
	// egress reports that containers can pass a listener of theirs.
	egress bool
	// programs are what the image brings, on its searchPath; env are its variables.
	programs   programs
	searchPath string
	env        map[string]string
	pool       *pool
	overlays   overlays
	names      *tempdir.Dir // of the files of names; nil where the engine makes those
	// starts bounds how many containers are started at once.
	starts chan struct{}
	// ackTimeout is how long a container may take nothing of what it is sent
	// and not acknowledge it.
	ackTimeout time.Duration
}

var _ sandbox.Backend = (*Backend)(nil)

// New returns a backend, once a container was really run. Errors wrap
// [sandbox.ErrUnavailable] and end with what is missing and what fixes it.
func New(ctx context.Context, options Options) (*Backend, error) {
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	options.Image = cmp.Or(options.Image, DefaultImage)
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	b, err := open(ctx, options)
	if err != nil {
		return nil, unavailable(err, options.Image)
	}
	return b, nil
}

// Reach returns the engine of which a backend with these options would be. Errors
// are as those of [New]. The caller closes it.
func Reach(ctx context.Context, options Options) (*engine.Engine, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	reached, err := options.dial(ctx)
	if err != nil {
		return nil, unavailable(err, options.Image)
	}
	return reached, nil
}

func (o Options) dial(ctx context.Context) (*engine.Engine, error) {
	if o.Remote == nil {
		return engine.Dial(ctx, o.Host, nil)
	}
	return engine.Dial(ctx, o.Host, o.Remote.Route)
}

func open(ctx context.Context, options Options) (*Backend, error) {
	reached, err := options.dial(ctx)
	if err != nil {
		return nil, err
	}
	b := &Backend{
		log:     options.Logger,
		engine:  reached,
		remote:  options.Remote,
		copying: reached.Elsewhere,
		labels:  newLabels(),
		starts:  make(chan struct{}, startsAtOnce),

		ackTimeout: engineTimeout,
	}
	b.pool = newPool(b)
	if err := b.prepare(ctx, options); err != nil {
		return nil, errors.Join(err, b.release())
	}
	b.runner = process.NewRunner(b.describe(), options.Logger)
	b.runner.ShowCopies(b.copies())
	return b, nil
}

// prepare finds out how containers can be run.
func (b *Backend) prepare(ctx context.Context, options Options) (err error) {
	if options.Runtime != "" {
		if err := b.engine.CheckRuntime(ctx, options.Runtime); err != nil {
			return err
		}
	}
	if err := b.findImage(ctx, options); err != nil {
		return err
	}
	machine, err := b.engine.Machine(ctx)
	if err != nil {
		return err
	}
	b.milliCPUs = machine.MilliCPUs
	b.pool.fit(machine.MemoryBytes)
	if machine.Loopback && options.Runtime == "" && !b.copying {
		if b.names, err = tempdir.New("", namesPrefix); err != nil {
			return err
		}
	}
	b.reap(ctx)
	err = b.probe(ctx)
	if !b.copying && b.remote != nil && errors.Is(err, engine.ErrUnshared) {
		b.log.Debug("files are copied", "reason", err)
		b.copying = true
		err = b.probe(ctx)
	}
	return err
}

// describe returns what hosts are told.
func (b *Backend) describe() sandbox.Info {
	kernel := "the kernel is shared with the host"
	if b.blueprint.Runtime != "" {
		kernel = fmt.Sprintf("the engine's runtime %q isolates the kernel as far as it does", b.blueprint.Runtime)
	}
	files := ""
	if b.copying {
		files = "the files of the workspace are copied there before the run and back after it, but not those of HOME and TMPDIR, which are the run's own; "
	}
	network := "there is no network but a loopback interface"
	if b.egress {
		network += " and the hosts that the user grants"
	} else {
		network += ", and with this engine no hosts can be granted"
	}
	if b.milliCPUs == 0 {
		kernel += "; processor time is not bounded, which the engine cannot"
	}
	return sandbox.Info{
		Backend: b.engine.Name(),
		Tier:    "container",
		Egress:  b.egress,
		Notice: "Every run has a container of its own: the skill is read-only, only the workspace, /tmp and what the user shares for changes can be written, " +
			"nothing of this machine is visible but these and what else the user shares, " + network + "; " + files + kernel + ".",
		SkillDir:  protocol.SkillDir,
		Workspace: protocol.Workspace,
		Library:   sandbox.LibraryDir,
		Image:     b.blueprint.Image,
	}
}

// Info describes the backend.
func (b *Backend) Info() sandbox.Info { return b.runner.Info() }

// Close kills what runs and returns when all containers of this backend are
// gone.
func (b *Backend) Close() error {
	b.runner.Close()
	return b.release()
}

// release closes the connection to the engine, and leaves nothing there.
func (b *Backend) release() error {
	b.pool.close()
	ctx, cancel := context.WithTimeout(context.Background(), engineTimeout)
	defer cancel()
	err := b.sweep(ctx)
	b.tidyChanges(ctx)
	err = errors.Join(err, b.sweep(ctx), b.engine.Close())
	if b.overlays.empty != nil {
		err = errors.Join(err, b.overlays.empty.Close())
	}
	if b.names != nil {
		err = errors.Join(err, b.names.Close())
	}
	return err
}
