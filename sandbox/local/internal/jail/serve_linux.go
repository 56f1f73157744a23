//go:build amd64 || arm64

package jail

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
)

func init() {
	if supervisor.Asked(Name) {
		syscall.Exit(serve()) // at once, without the hooks of os.Exit
	}
}

func serve() int {
	var orders Orders
	prepared := new(prepared)
	return supervisor.Serve(supervisor.Job{
		Orders:  &orders,
		Prepare: func() (err error) { return prepared.prepare(orders) },
		Start:   prepared.start,
		KillAll: func() {
			if orders.Root == nil {
				supervisor.KillDescendants()
			} else {
				unix.Kill(-1, unix.SIGKILL) // all but this process, the first in its namespace
			}
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

// prepare does everything that can be done before the program's own process
// is there.
func (p *prepared) prepare(orders Orders) error {
	// What the server inherited from its own parent is kept from everybody.
	first := uint(supervisor.FirstExtraFD)
	if orders.Root != nil {
		first += uint(orders.Root.detached())
	}
	if err := unix.CloseRange(first, ^uint(0)>>1, 0); err != nil {
		return failed("close descriptors", err)
	}
	if orders.Root == nil {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return failed("become subreaper", err)
		}
	} else if err := orders.Root.enter(); err != nil {
		return err
	}
	if err := unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return failed("close descriptors", err)
	}
	// Programs of the same user could else read and change this process.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return failed("hide the supervisor", err)
	}
	return p.fill(orders)
}
