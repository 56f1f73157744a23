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

	"github.com/skills-mcp/skills-mcp/internal/pathname"
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

// view is where a run's directories are for its program.
type view struct{ skill, workspace, private string }

func (s *system) view(spec sandbox.Spec) view {
	if s.tier == Full {
		return view{skill: skillDir, workspace: workspace, private: private}
	}
	return view{skill: spec.SkillDir, workspace: spec.Workspace, private: scratch.Owned(spec)}
}

// check finds the program of a spec and gives what starts it.
func (s *system) check(spec sandbox.Spec) (process.Start, error) {
	view := s.view(spec)
	argv, err := command.Line(spec, view.skill, s.lookup(spec, view))
	if err != nil {
		return nil, err
	}
	at := command.Dirs{
		Workspace: view.workspace,
		Home:      filepath.Join(view.private, scratch.Home), Tmp: filepath.Join(view.private, scratch.Tmp),
	}
	if spec.SkillDir != "" {
		at.Skill = view.skill
	}
	environ, err := command.Environ(spec, s.base, at)
	if err != nil {
		return nil, err
	}
	orders := jail.Orders{Argv: argv, Env: environ, Dir: view.workspace}
	if spec.InSkill {
		orders.Dir = view.skill
	}
	return func(_ context.Context, streams *process.Streams) (process.Tree, error) {
		return s.start(spec, orders, streams)
	}, nil
}

// lookup gives the [command.Lookup] of a run: what is found must be visible.
func (s *system) lookup(spec sandbox.Spec, view view) command.Lookup {
	return func(name string) (string, bool) {
		for _, dir := range [][2]string{{view.skill, spec.SkillDir}, {view.workspace, spec.Workspace}, {view.private, scratch.Owned(spec)}} {
			if rest, found := strings.CutPrefix(name, dir[0]+"/"); found && dir[1] != "" {
				file, ok := s.layout.path.Look(filepath.Join(dir[1], rest))
				return name, ok && (leadsInto(file, dir[1]) || s.layout.leadsIntoShown(file))
			}
		}
		return s.layout.look(name)
	}
}

// leadsInto tells whether a path, links and ".." followed, is below a
// directory. What is elsewhere on the machine is for nobody to learn.
func leadsInto(name, dir string) bool {
	realName, nameErr := filepath.EvalSymlinks(name)
	realDir, dirErr := filepath.EvalSymlinks(dir)
	return nameErr == nil && dirErr == nil && pathname.Within(realName, realDir)
}

// start has a supervisor start a program: the spare one if there is one.
func (s *system) start(spec sandbox.Spec, orders jail.Orders, streams *process.Streams) (process.Tree, error) {
	order := supervisor.Order{
		Orders:  &orders,
		Streams: supervisor.Streams{Stdin: streams.Stdin, Stdout: streams.Stdout, Stderr: streams.Stderr},
	}
	orders.Limits = s.limits(spec.Limits)
	if s.tier == Full {
		files, err := s.enclose(spec, &orders, &order)
		if err != nil {
			return nil, setupFailed(err)
		}
		defer closeAll(files)
	} else if err := s.restrict(spec, &orders, &order); err != nil {
		return nil, setupFailed(err)
	}
	for {
		jail, spare, err := s.spares.take(spec)
		if err != nil {
			return nil, setupFailed(err)
		}
		jail.seclude(orders.Mounts)
		tree, err := jail.run(order)
		if spare && errors.Is(err, supervisor.ErrGone) {
			continue // anything may have killed it
		}
		if err != nil {
			return nil, startFailed(err)
		}
		s.spares.prepare(spec.Limits)
		return tree, nil
	}
}

// enclose adds to orders what is the run's own in its file system.
func (s *system) enclose(spec sandbox.Spec, orders *jail.Orders, order *supervisor.Order) (files []*os.File, err error) {
	orders.Mounts, orders.Rights = s.layout.ownMounts(spec), fullRights
	if s.owners == nil {
		return nil, nil
	}
	order.Owner = nobody
	order.Files, err = s.owners.detach(orders.Mounts)
	return order.Files, err
}

// restrict adds to orders what a run may do in the server's own file system.
func (s *system) restrict(spec sandbox.Spec, orders *jail.Orders, order *supervisor.Order) error {
	orders.Rights = s.layout.restrictedRights(spec)
	if !s.asNobody {
		return nil
	}
	orders.Rights.User, order.Owner = nobody, nobody
	return giveToNobody(spec)
}

// runLimits gives the limits of the run as a whole. In the tier full, that of
// a user's processes is one of the run.
func (s *system) runLimits(l sandbox.Limits) cgroup.Limits {
	limits := cgroup.Limits{MemoryBytes: l.MemoryBytes + ownMemoryBytes}
	if s.tier == Restricted {
		limits.Processes = l.Processes + ownThreads
	}
	return limits
}

// limits gives the resource limits of each process.
func (s *system) limits(l sandbox.Limits) []jail.Limit {
	limits := []jail.Limit{
		{Resource: unix.RLIMIT_CORE, Value: 0},
		{Resource: unix.RLIMIT_FSIZE, Value: uint64(l.FileBytes)},
		{Resource: unix.RLIMIT_NOFILE, Value: atMost(unix.RLIMIT_NOFILE, uint64(l.OpenFiles))},
	}
	if memory, _ := s.cgroups.Bounds(); !memory {
		limits = append(limits, jail.Limit{
			Resource: unix.RLIMIT_AS,
			Value:    atMost(unix.RLIMIT_AS, uint64(l.MemoryBytes)),
		})
	}
	if s.tier == Full { // elsewhere the server's own processes would count
		limits = append(limits, jail.Limit{
			Resource: unix.RLIMIT_NPROC,
			Value:    atMost(unix.RLIMIT_NPROC, uint64(l.Processes+ownThreads)),
		})
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
