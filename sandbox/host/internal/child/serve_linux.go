package child

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// Name is the one by which this program knows that it is to be this.
const Name = "skills-mcp-supervisor"

// openFiles is RLIMIT_NOFILE of programs.
const openFiles = 4096

// It must take over before main, and before the init functions of packages
// that need this one.
func init() {
	if supervisor.Asked(Name) {
		syscall.Exit(supervise()) // at once, without the hooks of os.Exit
	}
}

// Fields implements [wire.Message].
func (o *Order) Fields(t *wire.Transfer) {
	t.Strings(&o.Argv)
	t.Strings(&o.Env)
	t.String(&o.Dir)
}

func supervise() int {
	// Handled, not ignored: what is ignored would be ignored by the program.
	reaper.DefaultSignals()
	var order Order
	return supervisor.Serve(supervisor.Job{
		Orders:  &order,
		Prepare: func([]int) ([]int, error) { return nil, prepareSelf() },
		Start:   func() (int, error) { return start(order) },
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
	return CloseOnExec("/proc/self/fd")
}

func start(order Order) (int, error) {
	return syscall.ForkExec(order.Argv[0], order.Argv, &syscall.ProcAttr{
		Dir:   order.Dir,
		Env:   order.Env,
		Files: []uintptr{0, 1, 2},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
}
