//go:build amd64 || arm64

package local

import (
	"context"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
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
type view struct{ skill, workspace string }

func (s *system) view(spec sandbox.Spec) view {
	if s.tier == Full {
		return view{skill: skillDir, workspace: workspace}
	}
	return view{skill: spec.SkillDir, workspace: spec.Workspace}
}

// check finds the program of a spec and gives what starts it.
func (s *system) check(spec sandbox.Spec) (process.Start, error) {
	view := s.view(spec)
	argv, err := spec.CommandLine(view.skill, s.lookup(spec, view))
	if err != nil {
		return nil, err
	}
	env := maps.Clone(s.base)
	env["WORKSPACE"] = view.workspace
	env["HOME"] = filepath.Join(view.workspace, scratch.Home)
	env["TMPDIR"] = filepath.Join(view.workspace, scratch.Tmp)
	if spec.SkillDir != "" {
		env["SKILL_DIR"] = view.skill
	}
	environ, err := spec.Environ(env)
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

// lookup gives the [sandbox.Lookup] of a run: what is found must be visible.
func (s *system) lookup(spec sandbox.Spec, view view) sandbox.Lookup {
	return func(name string) (string, bool) {
		for _, dir := range [][2]string{{view.skill, spec.SkillDir}, {view.workspace, spec.Workspace}} {
			if rest, found := strings.CutPrefix(name, dir[0]+"/"); found && dir[1] != "" {
				_, ok := s.layout.path.Look(filepath.Join(dir[1], rest))
				return name, ok
			}
		}
		found, ok := s.layout.path.Look(name)
		return found, ok && s.layout.shows(found)
	}
}

// start starts a supervisor and has it start a program.
func (s *system) start(spec sandbox.Spec, orders jail.Orders, streams *process.Streams) (process.Tree, error) {
	config := supervisor.Config{
		Name:    jail.Name,
		Streams: supervisor.Streams{Stdin: streams.Stdin, Stdout: streams.Stdout, Stderr: streams.Stderr},
		Attr:    &syscall.SysProcAttr{Setsid: true},
		Start:   s.spawner.start,
	}
	orders.Limits = s.limits(spec.Limits)
	if s.tier == Full {
		if err := s.enclose(spec, &orders, &config); err != nil {
			return nil, setupFailed(err)
		}
		defer closeAll(config.ExtraFiles)
	} else {
		orders.Rights = s.layout.restrictedRights(spec)
	}
	config.Orders = &orders
	group, err := s.cgroups.Open(s.runLimits(spec.Limits))
	if err != nil {
		return nil, setupFailed(err)
	}
	group.Enter(config.Attr)
	config.Placed = group.Place
	tree, err := supervisor.Start(config)
	if err == nil {
		err = group.WhenExhausted(tree.Kill)
		if err != nil {
			tree.Kill()
			_, waitErr := tree.Wait()
			err = errors.Join(err, waitErr)
		}
	}
	if err != nil {
		return nil, startFailed(errors.Join(err, group.Remove()))
	}
	return &run{tree, group}, nil
}

// enclose gives a run namespaces and a file system of its own.
func (s *system) enclose(spec sandbox.Spec, orders *jail.Orders, config *supervisor.Config) error {
	config.OwnPIDs = true
	// Its death is that of all. Elsewhere it must live on to kill the others.
	config.Attr.Pdeathsig = syscall.SIGKILL
	uid, gid := os.Geteuid(), os.Getegid()
	if s.owners != nil {
		uid, gid = nobody, nobody
		config.Owner = nobody
		config.Attr.Credential = &syscall.Credential{Uid: jail.UserID, Gid: jail.GroupID}
		config.Attr.GidMappingsEnableSetgroups = true
	}
	config.Attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	config.Attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: jail.UserID, HostID: uid, Size: 1}}
	config.Attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: jail.GroupID, HostID: gid, Size: 1}}
	// What the supervisor needs to build a file system and to lock it up.
	config.Attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}

	root, rights := s.layout.root(spec)
	orders.Rights = rights
	orders.Root = root
	if s.owners == nil {
		return nil
	}
	return s.owners.detach(root, config)
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

// run is a supervisor and the processes below it.
type run struct {
	*supervisor.Tree
	group *cgroup.Group
}

// Wait implements [process.Tree].
func (r *run) Wait() (process.Ending, error) {
	ended, err := r.Tree.Wait()
	r.group.Kill() // nothing is left, unless a program has got rid of its supervisor
	usage := r.group.Usage()
	if ended.CPUTime == 0 { // no supervisor could tell
		ended.CPUTime = usage.CPUTime
	}
	ending := process.EndingOf(ended.Code, ended.Signal, ended.Killed, ended.CPUTime)
	ending.PeakMemoryBytes, ending.OutOfMemory = usage.PeakMemoryBytes, usage.OutOfMemory
	r.group.Remove() // what remains is removed by the next server
	if err != nil {
		return process.Ending{}, startFailed(err)
	}
	return ending, nil
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
