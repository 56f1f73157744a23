//go:build amd64 || arm64

package jail

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
)

func init() {
	if supervisor.Asked(Name) {
		syscall.Exit(serve()) // at once, without the hooks of os.Exit
	}
}

func serve() int {
	var setting Setting
	var orders Orders
	prepared := new(prepared)
	return supervisor.Serve(supervisor.Job{
		Setting: &setting,
		Ahead:   func() error { return prepared.ahead(setting) },
		Orders:  &orders,
		Prepare: func(files []int) ([]int, error) { return prepared.finish(orders, files) },
		Start:   prepared.start,
		Ended:   func() { unmountShares(orders.Shares) },
		KillAll: func() {
			if setting.Root == nil {
				reaper.KillDescendants()
				return
			}
			unix.Kill(-1, unix.SIGKILL) // all but this process, the first in its namespace
		},
	})
}

// failed names the step at which an error came.
func failed(step string, err error) error {
	if err == nil {
		return nil
	}
	return &supervisor.StepError{Step: step, Err: err}
}

// ahead does everything that needs no orders.
func (p *prepared) ahead(setting Setting) (err error) {
	// The launcher has passed on nothing but these, and more may be Go's own.
	if err := unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return failed("mark descriptors", err)
	}
	if setting.Root == nil {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return failed("become subreaper", err)
		}
	} else if err := p.enclose(setting.Root); err != nil {
		return err
	}
	// Programs of the same user could else read and change this process.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return failed("hide the supervisor", err)
	}
	if err := p.generic(); err != nil {
		return err
	}
	return dropCapabilities(setting.Root != nil)
}

// finish does everything else that can be done before the program's own
// process is there. It returns the listening socket that the orders ask for.
func (p *prepared) finish(orders Orders, files []int) (listener []int, err error) {
	if p.root != nil {
		if err := p.clock.start(); err != nil {
			return nil, failed("start the clock", err)
		}
		if err := p.root.finish(&orders, files); err != nil {
			return nil, err
		}
	}
	if err := p.fill(orders); err != nil || orders.Listen == 0 {
		return nil, err
	}
	fd, err := listen(orders.Listen)
	if err != nil {
		return nil, err
	}
	return []int{fd}, nil
}

// enclose makes what a program has of its own in its namespaces.
func (p *prepared) enclose(root *Root) (err error) {
	if p.clock, err = newClock(); err != nil { // before /proc is another
		return failed("open the clock", err)
	}
	p.root, err = root.build()
	return err
}
