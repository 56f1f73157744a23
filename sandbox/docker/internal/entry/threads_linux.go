//go:build amd64 || arm64

package entry

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/procstat"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/seccomp"
)

const (
	// threadsAhead is how many threads are there before the program starts,
	// besides the first and those of the runtime itself. It is more than can
	// be busy at once: processors, and one for each call that blocks.
	threadsAhead = 8
	// processors is how many threads run Go code at once, however many
	// processors the machine has.
	processors = 2
	// restTimeout is how long threads may take to come to rest, on a machine
	// that has no time for them.
	restTimeout = time.Minute
)

// startThreads has the runtime start threads, which it keeps, and leaves the
// caller on a thread of its own. A thread that is missing later would be one
// that the kernel refuses, which ends this process, or one that programs may
// starve. Each goroutine holds a thread of its own until all have one.
func startThreads() error {
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
	runtime.LockOSThread()
	return rest()
}

// rest returns when all other threads sleep. Before that, one that was asked for
// may not be there yet, and one that has woken another may not be counted as
// idle yet: the runtime would start a further one.
func rest() error {
	// One that was seen asleep may have been woken by one that was seen later.
	const times = 2
	deadline := time.Now().Add(restTimeout)
	for seen := 0; seen < times; {
		asleep, err := othersSleep()
		switch {
		case err != nil:
			return err
		case asleep:
			seen++
		case time.Now().After(deadline):
			return fmt.Errorf("threads of the first process are busy for %v", restTimeout)
		default:
			seen = 0
			interval := unix.NsecToTimespec(int64(50 * time.Microsecond))
			unix.Nanosleep(&interval, nil) // by this thread: the runtime's sleep would wake others
		}
	}
	return nil
}

func othersSleep() (bool, error) {
	threads, err := threads()
	if err != nil {
		return false, err
	}
	self := unix.Gettid()
	for _, thread := range threads {
		if thread == self {
			continue
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/stat", thread))
		if err != nil {
			return false, err
		}
		if stat, ok := procstat.Parse(text); !ok || stat.State != 'S' {
			return false, nil
		}
	}
	return true, nil
}

// threads returns the numbers of this process's threads.
func threads() ([]int, error) {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	numbers := make([]int, len(entries))
	for i, entry := range entries {
		if numbers[i], err = strconv.Atoi(entry.Name()); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

// keepScheduling has programs started by this thread not change how this process
// is scheduled. It has all its threads by now.
func keepScheduling() error {
	threads, err := threads()
	if err != nil {
		return err
	}
	return seccomp.Install(seccomp.Guard(slices.Max(threads)))
}
