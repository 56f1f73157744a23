//go:build amd64 || arm64

package local

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/cgroup"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/launcher"
)

// jailProcess is where one program is going to run: a supervisor that waits for
// its orders, in namespaces and cgroups of its own. Nothing in it is of a
// skill yet.
type jailProcess struct {
	system     *system
	supervisor *supervisor.Supervisor
	group      cgroup.Group
	mounts     []string // where something was mounted when it was made, in the tier full
}

// newJailProcess makes a jail process for programs with such limits.
func (s *system) newJailProcess(limits sandbox.Limits) (*jailProcess, error) {
	group, err := s.cgroups.Open(s.runLimits(limits))
	if err != nil {
		return nil, err
	}
	p := &jailProcess{system: s, group: group}
	config := supervisor.Config{
		Name:    jail.Name,
		Setting: new(jail.Setting),
		Attr:    &syscall.SysProcAttr{Setsid: true},
		Placed:  cgroup.ResetOOMScore,
	}
	dirs := group.Enter(config.Attr)
	config.Start = func(command *exec.Cmd) (supervisor.Process, error) { return s.launcher.Start(command, dirs) }
	if s.tier == Full {
		table, err := os.ReadFile(mountTable)
		if err != nil {
			return nil, errors.Join(err, group.Remove())
		}
		root := s.layout.root()
		p.mounts = mountPoints(string(table))
		p.markPrivate(root.Mounts)
		config.Setting = &jail.Setting{Root: root}
		s.separate(&config)
	}
	p.supervisor, err = supervisor.Spawn(config)
	if errors.Is(err, launcher.ErrGone) { // anything may have killed it
		p.supervisor, err = supervisor.Spawn(config)
	}
	if err != nil {
		return nil, errors.Join(err, group.Remove())
	}
	return p, nil
}

// launch starts a process that is in no cgroup of its own.
func (s *system) launch(command *exec.Cmd) (supervisor.Process, error) {
	return s.launcher.Start(command, nil)
}

// separate lets a supervisor have namespaces of its own.
func (s *system) separate(config *supervisor.Config) {
	config.OwnPIDs = true
	// Its death is that of all. Elsewhere it must live on to kill the others.
	config.Attr.Pdeathsig = syscall.SIGKILL
	uid, gid := os.Geteuid(), os.Getegid()
	if s.idmaps != nil {
		uid, gid = nobody, nobody
		config.Attr.Credential = &syscall.Credential{Uid: jail.UserID, Gid: jail.GroupID}
		config.Attr.GidMappingsEnableSetgroups = true
	}
	config.Attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	config.Attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: jail.UserID, HostID: uid, Size: 1}}
	config.Attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: jail.GroupID, HostID: gid, Size: 1}}
	// What the supervisor needs to build a file system, a network and a clock,
	// and to lock them up. The kernel keeps changes to shares with what it has.
	config.Attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SYS_TIME, unix.CAP_SETPCAP,
		unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER}
}

// markPrivate has directories shown by files of the run's own, so that no program
// can lock what others use, or reach who listens there: those below which nothing
// is mounted, or is left out. They have the same names on the host, but for the
// skill, which is a copy without mounts.
func (p *jailProcess) markPrivate(mounts []jail.Mount) {
	for i := range mounts {
		mount := &mounts[i]
		mount.Private = p.system.private && mount.Dir && !mount.Writable && (mount.Single || !hasMountsBelow(p.mounts, mount.Target))
	}
}

// run runs a program. The jail process is used up, also by an error.
func (p *jailProcess) run(order supervisor.Order) (*run, error) {
	tree, err := p.supervisor.Run(order)
	if err != nil {
		return nil, errors.Join(err, p.group.Remove())
	}
	started := &run{Tree: tree, in: p}
	if err := p.group.WhenExhausted(tree.Kill); err != nil {
		return nil, started.abandon(err)
	}
	return started, nil
}

// dismiss ends a jail process in which nothing is to run.
func (p *jailProcess) dismiss() {
	p.supervisor.Dismiss()
	p.group.Remove() // what remains is removed by the next server
}

// run is a program with all its processes.
type run struct {
	*supervisor.Tree
	in     *jailProcess
	shared []sandbox.Shared
}

// serve has the connections of the program be taken, if there are to be any.
func (r *run) serve(streams *process.Streams) error {
	for _, listener := range r.Returned {
		if err := streams.ServeEgress(listener); err != nil {
			return r.abandon(&supervisor.StepError{Step: "serve the program's connections", Err: err})
		}
	}
	return nil
}

// abandon ends a run that cannot go on, and returns the reason.
func (r *run) abandon(reason error) error {
	closeAll(r.Returned)
	r.Kill()
	_, err := r.Tree.Wait()
	r.Close()
	return errors.Join(reason, err, r.in.group.Remove())
}

// Wait implements [process.Tree].
func (r *run) Wait() (process.Ending, error) {
	ended, err := r.Tree.Wait()
	r.in.group.Kill() // nothing is left, unless a program has got rid of its supervisor
	usage := r.in.group.Usage()
	if ended.CPUTime == 0 { // no supervisor could tell
		ended.CPUTime = usage.CPUTime
	}
	ending := process.Ending{Ending: ended, PeakMemoryBytes: usage.PeakMemoryBytes, OutOfMemory: usage.OutOfMemory, Shared: r.shared}
	// No process of the run is left. What it was in need not keep anybody
	// waiting.
	r.in.system.endings.Go(func() {
		r.Tree.Close()
		r.in.group.Remove() // what remains is removed by the next server
	})
	if err != nil {
		return process.Ending{}, startFailed(err)
	}
	return ending, nil
}
