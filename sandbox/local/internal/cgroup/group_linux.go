package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// removalTimeout is how long the kernel may take to see that a cgroup is empty.
const removalTimeout = time.Second

// ResetOOMScore makes a process that was started in a cgroup, and has done
// nothing yet, one that the kernel may kill for memory: it would spare those
// that have inherited that from a server which it must spare.
func ResetOOMScore(pid int) error {
	if !isProtected() {
		return nil
	}
	return write(filepath.Join("/proc", strconv.Itoa(pid)), "oom_score_adj", "0")
}

var isProtected = sync.OnceValue(func() bool { return readNumber("/proc/self", "oom_score_adj") < 0 })

// Group bounds one run. It is what the versions do differently.
type Group interface {
	// Enter has a process begin in the cgroup, and with it all that it will
	// start: by its attributes, or by the thread that starts it, which is to be
	// in these directories meanwhile.
	Enter(*syscall.SysProcAttr) (threadIn []string)
	// WhenExhausted calls kill where the kernel has run out of the run's
	// memory and does not kill all of the run by itself. It is called before
	// the cgroup is removed or not at all.
	WhenExhausted(kill func()) error
	// Kill kills every process that is in it, where the kernel can do that.
	Kill()
	// Usage returns what was used.
	Usage() Usage
	// Remove removes the cgroup of a run that has ended.
	Remove() error
}

// Usage is what a run has used.
type Usage struct {
	// PeakMemoryBytes is the most that was in use at once; 0 if it is not
	// known.
	PeakMemoryBytes int64
	// OutOfMemory reports that more was wanted: processes were killed for it.
	OutOfMemory bool
	// CPUTime is that of all processes, the supervisor's among them; 0 if it
	// is not known.
	CPUTime time.Duration
}

// nowhere is the hierarchy where no cgroups can be made, for that reason.
type nowhere struct{ reason error }

func (n nowhere) String() string           { return "none: " + n.reason.Error() }
func (nowhere) bounds() Bounds             { return Bounds{} }
func (nowhere) dirs() []string             { return nil }
func (nowhere) open(Limits) (Group, error) { return none{}, nil }
func (nowhere) close() error               { return nil }

// none bounds nothing.
type none struct{}

func (none) Enter(*syscall.SysProcAttr) []string { return nil }
func (none) WhenExhausted(func()) error          { return nil }
func (none) Kill()                               {}
func (none) Usage() Usage                        { return Usage{} }
func (none) Remove() error                       { return nil }

// write writes to a file of the kernel's, which makes none that is not there.
func write(dir, name, value string) error {
	file, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(value)
	return errors.Join(err, file.Close())
}

// writeIfThere writes to a file that not every kernel has.
func writeIfThere(dir, name, value string) error {
	if err := write(dir, name, value); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// place puts a process in a cgroup.
func place(dir string, pid int) error {
	return write(dir, "cgroup.procs", strconv.Itoa(pid))
}

// readNumber reads a file of one number; 0 if it cannot.
func readNumber(dir, name string) int64 {
	content, _ := os.ReadFile(filepath.Join(dir, name))
	number, _ := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
	return number
}

// readValue reads a number from a file of names and numbers; 0 if it cannot.
func readValue(dir, name, key string) int64 {
	content, _ := os.ReadFile(filepath.Join(dir, name))
	for line := range strings.Lines(string(content)) {
		if value, found := strings.CutPrefix(line, key+" "); found {
			number, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			return number
		}
	}
	return 0
}

// remove removes a cgroup whose processes are dead, or are about to be.
func remove(dir string) error {
	for deadline := time.Now().Add(removalTimeout); ; time.Sleep(time.Millisecond) {
		err := os.Remove(dir)
		if err == nil || errors.Is(err, os.ErrNotExist) || time.Now().After(deadline) {
			return err
		}
	}
}
