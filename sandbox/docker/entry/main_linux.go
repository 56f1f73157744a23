//go:build amd64 || arm64

// Command entry is the first process of a container: it waits for an order,
// runs one program and ends with it. See package protocol.
//
// As the container's init it inherits every orphan, and no signal from inside
// the container can end it. It must work where the program has used up all
// processes and all memory: it starts its threads before the program, collects
// no garbage, and leaves it to the kernel to kill others first.
//
// The thread that starts the program has put a filter of system calls on
// itself before. The program inherits it on top of the engine's own, which
// differs between engines and their versions.
//
// Where files are copied it is root until it has stored the skill's, so that
// the program cannot change them; then it is as unprivileged as elsewhere.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/seccomp"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

const (
	// threadsAhead is how many threads are there before the program starts,
	// besides the first and those of the runtime itself. It is more than can
	// be busy at once: processors, and one for each call that blocks.
	threadsAhead = 8
	// processors is how many threads run Go code at once, however many
	// processors the machine has.
	processors = 2
)

func main() {
	if serve() != nil { // all that is heard of it is that there is no report
		os.Exit(1)
	}
}

func serve() error {
	debug.SetGCPercent(-1)
	reaper.WithstandSignals()
	startThreads()
	runtime.LockOSThread() // this one starts the program
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

// startThreads has the runtime start threads, which it keeps. Each goroutine
// holds a thread of its own until all have one: a thread that is missing later
// would be one that the kernel refuses, which ends this process.
func startThreads() {
	runtime.GOMAXPROCS(processors)
	var ready, all sync.WaitGroup
	ready.Add(threadsAhead)
	for range threadsAhead {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			ready.Wait()
		})
	}
	all.Wait()
}
