package host

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

const bounded = "time, output and the life of all their processes are bounded"

// supervisorName is the name by which this program knows that it is to be a
// supervisor.
const supervisorName = "skills-mcp-supervisor"

// openFiles is RLIMIT_NOFILE of programs.
const openFiles = 4096

// It must take over before main, and before the init functions of packages
// that need this one.
func init() {
	if supervisor.Asked(supervisorName) {
		syscall.Exit(supervise()) // at once, without the hooks of os.Exit
	}
}

// Fields implements [wire.Message].
func (p *program) Fields(t *wire.Transfer) {
	t.Strings(&p.Argv)
	t.Strings(&p.Env)
	t.String(&p.Dir)
}

func supervise() int {
	// Handled, not ignored: what is ignored would be ignored by the program.
	reaper.DefaultSignals()
	var what program
	return supervisor.Serve(supervisor.Job{
		Orders:  &what,
		Prepare: func([]int) ([]int, error) { return nil, prepareSelf() },
		Start:   func() (int, error) { return startProgram(what) },
		KillAll: reaper.KillDescendants,
	})
}

// prepareSelf makes this process what a program may be started from. As a
// child subreaper it inherits every orphan below it: when it has no child
// left, no process of the run is left.
func prepareSelf() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := reaper.SetLimits(map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: openFiles}); err != nil {
		return err
	}
	return closeOnExec("/proc/self/fd")
}

func startProgram(what program) (int, error) {
	return syscall.ForkExec(what.Argv[0], what.Argv, &syscall.ProcAttr{
		Dir:   what.Dir,
		Env:   what.Env,
		Files: []uintptr{0, 1, 2},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
}

// prepare checks that supervisors can be started.
func prepare() error {
	if _, err := os.Readlink(supervisor.SelfExe); err != nil {
		return errors.New("/proc is not mounted")
	}
	return nil
}

// tree is a supervisor and the processes below it.
type tree struct{ *supervisor.Tree }

// start starts a supervisor and has it start a program. Errors are of type
// [sandbox.SetupError].
func start(what program, s *process.Streams) (process.Tree, error) {
	t, err := supervisor.Start(supervisor.Config{
		Name: supervisorName,
		Attr: &syscall.SysProcAttr{Setsid: true}, // out of reach of the terminal's signals
	}, supervisor.Order{
		Orders:  &what,
		Streams: supervisor.Streams{Stdin: s.Stdin, Stdout: s.Stdout, Stderr: s.Stderr},
	})
	if err != nil {
		return nil, process.StartFailed(err)
	}
	return tree{t}, nil
}

// Wait implements [process.Tree].
func (t tree) Wait() (process.Ending, error) {
	defer t.Close()
	ended, err := t.Tree.Wait()
	if err != nil {
		return process.Ending{}, process.StartFailed(err)
	}
	return process.Ending{Ending: ended}, nil
}
