//go:build amd64 || arm64

package local

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/command"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/cgroup"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// What of a run is its supervisor's.
const (
	ownThreads     = 16 // and processes
	ownMemoryBytes = 16 << 20
)

// dirs returns a run's directories as its program sees them.
func (s *system) dirs(spec sandbox.Spec, shares shares) command.Dirs {
	at, own := command.Dirs{Skill: spec.SkillDir, Workspace: spec.Workspace}, scratch.Owned(spec)
	if s.tier == Full {
		at.Workspace, own = workspace, private
		if at.Skill != "" {
			at.Skill = skillDir
		}
	}
	at.Project = shares.project(spec)
	at.Home, at.Tmp = filepath.Join(own, scratch.Home), filepath.Join(own, scratch.Tmp)
	return at
}

// check finds the program of a spec and returns what starts it.
func (s *system) check(spec sandbox.Spec) (process.Start, error) {
	if err := s.checkGranted(spec); err != nil {
		return nil, err
	}
	shares := s.newShares(spec)
	orders, err := s.orders(spec, shares)
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, streams *process.Streams) (process.Tree, error) {
		for {
			tree, err := s.start(spec, shares, orders, streams)
			if err == nil {
				tree.shared = shares.shown()
				return tree, nil
			}
			if err := s.lessen(shares, err); err != nil {
				return nil, err
			}
			if orders, err = s.orders(spec, shares); err != nil {
				return nil, err
			}
		}
	}, nil
}

// orders returns what is started for a spec.
func (s *system) orders(spec sandbox.Spec, shares shares) (jail.Orders, error) {
	at := s.dirs(spec, shares)
	argv, err := command.Line(spec, at.Skill, s.lookup(spec, at, shares))
	if err != nil {
		return jail.Orders{}, err
	}
	environ, err := command.Environ(spec, s.layout.path.String(), s.layout.variables, at)
	orders := jail.Orders{Argv: argv, Env: environ, Dir: at.Start(spec)}
	if spec.Egress != nil && s.tier == Full {
		orders.Listen = proxyPort
	}
	return orders, err
}

// lookup returns the [command.Lookup] of a run: what is found must be visible.
func (s *system) lookup(spec sandbox.Spec, at command.Dirs, shares shares) command.Lookup {
	own := [][2]string{{at.Skill, spec.SkillDir}, {at.Workspace, spec.Workspace}, {filepath.Dir(at.Home), scratch.Owned(spec)}, {sandbox.LibraryDir, spec.Library}}
	return func(name string) (string, bool) {
		if strings.Contains(name, "/") && !filepath.IsAbs(name) {
			name = filepath.Join(at.Start(spec), name)
		}
		if found, within := shares.look(&s.layout, name); within {
			return name, found
		}
		if file, ok := s.layout.lookGranted(name, spec.Show); ok {
			return file, true
		}
		for _, dir := range own {
			if rest, found := strings.CutPrefix(name, dir[0]+"/"); found && dir[1] != "" {
				file, ok := s.layout.path.Look(filepath.Join(dir[1], rest))
				return name, ok && s.layout.leadsInto(file, dir[1])
			}
		}
		return s.layout.look(name)
	}
}

// start has a supervisor start a program: the warm one if there is one.
func (s *system) start(spec sandbox.Spec, shares shares, orders jail.Orders, streams *process.Streams) (*run, error) {
	order := supervisor.Order{
		Orders:  &orders,
		Streams: supervisor.Streams{Stdin: streams.Stdin, Stdout: streams.Stdout, Stderr: streams.Stderr},
		Returns: min(orders.Listen, 1),
	}
	orders.Limits = s.limits(spec.Limits)
	err := s.grant(spec, shares, &orders, &order)
	defer func() { closeAll(order.Files) }()
	if err != nil {
		return nil, setupFailed(err)
	}
	for {
		jail, ready, err := s.warm.take(spec)
		if err != nil {
			return nil, setupFailed(err)
		}
		jail.markPrivate(orders.Mounts)
		tree, err := jail.run(order)
		if ready && errors.Is(err, supervisor.ErrGone) {
			continue // anything may have killed it
		}
		if err == nil {
			err = tree.serve(streams)
		}
		if err != nil {
			return nil, startFailed(err)
		}
		s.warm.prepare(spec.Limits)
		return tree, nil
	}
}

// grant adds to orders what a run sees and may do: mounts of its own, or rights
// in the server's file system.
func (s *system) grant(spec sandbox.Spec, shares shares, orders *jail.Orders, order *supervisor.Order) (err error) {
	if s.tier == Restricted {
		orders.Rights = s.layout.restrictedRights(spec)
		orders.Rights.Landlock = append(orders.Rights.Landlock, inPlaceGrants(spec.Shares)...)
		if !s.asNobody {
			return nil
		}
		orders.Rights.User, order.Owner = nobody, nobody
		return giveToNobody(spec)
	}
	orders.Mounts, orders.Rights = append(s.layout.ownMounts(spec), shares.mounts(&s.layout)...), shares.rights(fullRights)
	orders.Shares = shares.orders(&s.layout)
	if s.idmaps != nil {
		order.Owner = nobody
		if order.Files, err = s.idmaps.detach(orders.Mounts); err == nil {
			order.Files, err = s.idmaps.detachShares(orders.Shares, order.Files)
		}
	}
	return err
}

// runLimits returns the limits of the run as a whole. In the tier full, that of
// a user's processes is one of the run.
func (s *system) runLimits(l sandbox.Limits) cgroup.Limits {
	limits := cgroup.Limits{MemoryBytes: l.MemoryBytes + ownMemoryBytes, MilliCPUs: l.MilliCPUs}
	if s.tier == Restricted {
		limits.Processes = l.Processes + ownThreads
	}
	return limits
}

// limits returns the resource limits of each process.
func (s *system) limits(l sandbox.Limits) (limits []jail.Limit) {
	values := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: uint64(l.FileBytes), unix.RLIMIT_NOFILE: uint64(l.OpenFiles)}
	if !s.cgroups.Bounds().Memory {
		values[unix.RLIMIT_AS] = uint64(l.MemoryBytes)
	}
	if s.tier == Full { // elsewhere the server's own processes would count
		values[unix.RLIMIT_NPROC] = uint64(l.Processes + ownThreads)
	}
	for resource, value := range values {
		limits = append(limits, jail.Limit{Resource: resource, Value: atMost(resource, value)})
	}
	return limits
}

// atMost bounds a limit by what this process may have itself.
func atMost(resource int, value uint64) uint64 {
	own := unix.Rlimit{Max: math.MaxUint64}
	if err := unix.Getrlimit(resource, &own); err != nil {
		return value
	}
	return min(value, own.Max)
}

// startFailed tells a fault of the sandbox from one of the program.
func startFailed(err error) error {
	if step := new(supervisor.StepError); errors.As(err, &step) {
		return setupFailed(err)
	}
	return process.StartFailed(err)
}

func setupFailed(err error) error {
	return &sandbox.SetupError{
		Rule:    "setup-failed",
		Message: "the sandbox could not be set up, and nothing was run",
		Hint:    "This is no fault of the call. Try once more; if it fails again, tell the user that the log of skills-mcp says why.",
		Err:     err,
	}
}

func closeAll(files []*os.File) {
	for _, file := range files {
		file.Close()
	}
}
