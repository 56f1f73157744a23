//go:build amd64 || arm64

package entry

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/seccomp"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// It must take over before main, and before the init functions of packages that
// need this one: those of the rest of the binary would cost every container.
func init() {
	if os.Getpid() != 1 || os.Args[0] != protocol.Path {
		return
	}
	if serve() != nil { // all that is heard of it is that there is no report
		syscall.Exit(1)
	}
	syscall.Exit(0) // at once, without the hooks of os.Exit
}

func serve() error {
	debug.SetGCPercent(-1)
	reaper.WithstandSignals()
	if err := startThreads(); err != nil {
		return err
	}
	copies := os.Geteuid() == 0
	for _, address := range os.Args[1:] {
		_ = passListener(address) // what comes of it the server sees for itself
	}
	if !copies {
		if err := confine(); err != nil {
			return err
		}
	}
	score, err := openOOMScore()
	if err != nil {
		return err
	}
	if err := hide(); err != nil {
		return err
	}
	var order protocol.Order
	if wire.Receive(os.Stdin, &order) != nil {
		return nil // the server does not need this container any more
	}
	if order.Files != copies {
		fmt.Fprintln(os.Stderr, "only root stores files, and does nothing else")
		return unix.EPERM
	}
	if !copies {
		if err := acknowledge(); err != nil {
			return err
		}
	}
	// All of it now: while some is on its way unread, the engine
	// would not notice that the server is gone.
	input := bufio.NewReader(os.Stdin)
	stdin := make([]byte, order.StdinBytes)
	if _, err := io.ReadFull(input, stdin); err != nil {
		return err
	}
	if copies {
		return serveCopies(order, input, stdin, score)
	}
	return reply(order, carryOut(order, stdin, score), func(io.Writer) error { return nil })
}

// inOrder takes steps until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// confine puts the filter of system calls on this thread, and so on the
// program.
func confine() error {
	err := seccomp.Install(seccomp.Filter(seccomp.Surroundings{}))
	if err != nil {
		fmt.Fprintln(os.Stderr, "system calls cannot be filtered:", err)
	}
	return err
}

// hide keeps programs from reading the nonce in this process's memory.
func hide() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

func carryOut(order protocol.Order, stdin []byte, score oomScore) protocol.Report {
	if len(order.Argv) == 0 {
		return list(order)
	}
	return run(order, stdin, score)
}
