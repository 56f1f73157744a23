//go:build amd64 || arm64

// Command entry is the first process of a container: it waits for an order,
// runs one program and ends with it. See package handover.
//
// As the container's init it inherits every orphan, and no signal from inside
// the container can end it. It must work where the program has used up all
// processes and all memory: it starts its threads before the program, collects
// no garbage, and leaves it to the kernel to kill others first.
//
// The thread that starts the program has put a filter of system calls on
// itself before. The program inherits it on top of the engine's own, which
// differs between engines and their versions.
package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/handover"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/seccomp"
)

// threadsAhead is how many threads are there before the program starts.
const threadsAhead = 8

func main() { os.Exit(serve()) }

func serve() int {
	debug.SetGCPercent(-1)
	// Handled, not ignored: what is ignored would be ignored by the program.
	signal.Notify(make(chan os.Signal, 1))
	startThreads()
	runtime.LockOSThread() // this one starts the program
	if err := seccomp.Install(seccomp.Filter(seccomp.Surroundings{OwnNetwork: true})); err != nil {
		fmt.Fprintln(os.Stderr, "system calls cannot be filtered:", err)
		return 1
	}
	victims, err := markVictims()
	if err != nil {
		return 1
	}
	// No program may read the nonce in this process's memory.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return 1
	}
	order, err := handover.ReadOrder(os.Stdin)
	if err != nil { // the server does not need this container any more
		return 0
	}
	if _, err := os.Stdout.Write([]byte{handover.Ack}); err != nil {
		return 1
	}
	// All of it now: while some is on its way, and nobody reads it, the engine
	// would not notice that the server is gone.
	stdin := make([]byte, order.StdinBytes)
	if _, err := io.ReadFull(os.Stdin, stdin); err != nil {
		return 1
	}
	var report handover.Report
	if len(order.Argv) == 0 {
		report = list(order)
	} else {
		report = run(order, stdin, victims)
	}
	if _, err := os.Stdout.Write(order.Nonce[:]); err != nil {
		return 1
	}
	if _, err := os.Stderr.Write(append(order.Nonce[:], report.Encode()...)); err != nil {
		return 1
	}
	return 0
}

// startThreads makes the runtime start threads, which it keeps.
func startThreads() {
	var all sync.WaitGroup
	for range threadsAhead {
		all.Go(func() {
			pause := unix.NsecToTimespec(int64(time.Millisecond))
			unix.Nanosleep(&pause, nil)
		})
	}
	all.Wait()
}
