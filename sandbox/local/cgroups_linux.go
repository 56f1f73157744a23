//go:build amd64 || arm64

package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

const (
	// cgroupPrefix begins the name of every cgroup that is made here; the
	// process id of the server follows, then a number.
	cgroupPrefix = "skills-mcp-"
	// ownMemoryBytes is how much of a run's memory is its supervisor's.
	ownMemoryBytes = 16 << 20
	// removalPatience is how long the kernel may take to see that a cgroup
	// is empty.
	removalPatience = time.Second
)

// cgroups are the places where cgroups for runs can be made, in hierarchies of
// version 1; an empty path means that there is none for that controller.
type cgroups struct{ memory, pids string }

// lastCgroup is the number of the newest cgroup of this process.
var lastCgroup atomic.Int64

// findCgroups finds where this process may make cgroups, by making one. What
// servers that were killed have left there is removed.
//
// The tier full needs none for processes: its limit on a user's processes is
// one on those of the run, and entering a cgroup takes the kernel a while.
func findCgroups(tier Tier) *cgroups {
	c := new(cgroups)
	places := map[string]*string{"memory": &c.memory}
	if tier == Restricted {
		places["pids"] = &c.pids
	}
	for controller, place := range places {
		dir := cgroupDir(controller)
		if dir == "" {
			continue
		}
		sweepCgroups(dir)
		if probe := filepath.Join(dir, newCgroupName()); os.Mkdir(probe, 0o755) == nil {
			*place = dir
			os.Remove(probe) // empty
		}
	}
	return c
}

func newCgroupName() string {
	return fmt.Sprintf("%s%d-%d", cgroupPrefix, os.Getpid(), lastCgroup.Add(1))
}

// cgroupDir gives this process's own directory in a controller's hierarchy.
func cgroupDir(controller string) string {
	membership, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(membership)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		if len(fields) == 3 && listHas(fields[1], controller) {
			root, mounted := cgroupMount(controller)
			if below, err := filepath.Rel(root, fields[2]); mounted != "" && err == nil && filepath.IsLocal(below) {
				return filepath.Join(mounted, below)
			}
		}
	}
	return ""
}

// cgroupMount gives where a controller's hierarchy is mounted, and which
// directory of it is there.
func cgroupMount(controller string) (root, dir string) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", ""
	}
	for line := range strings.Lines(string(mounts)) {
		before, after, _ := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if len(fields) > 4 && len(kind) == 3 && kind[0] == "cgroup" && listHas(kind[2], controller) {
			return fields[3], fields[4]
		}
	}
	return "", ""
}

func listHas(list, item string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one == item {
			return true
		}
	}
	return false
}

// sweepCgroups removes the cgroups of servers that are no more. What was in
// them is dead, or about to be.
func sweepCgroups(dir string) {
	names, _ := filepath.Glob(filepath.Join(dir, cgroupPrefix+"*")) // the pattern is well-formed
	for _, name := range names {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(name), cgroupPrefix), "-")
		if pid, err := strconv.Atoi(owner); err == nil && unix.Kill(pid, 0) == unix.ESRCH {
			removeCgroup(name)
		}
	}
}

// cgroup bounds one run. A nil cgroup bounds nothing.
type cgroup struct {
	memory, pids string   // directories, or empty
	event        *os.File // tells that memory was exhausted, if set
	watching     sync.WaitGroup
	exhausted    atomic.Bool // the event has come
}

// open makes the cgroups of a run.
func (c *cgroups) open(limits sandbox.Limits) (g *cgroup, err error) {
	if c.memory == "" && c.pids == "" {
		return nil, nil
	}
	g = new(cgroup)
	name := newCgroupName()
	defer func() {
		if err != nil {
			g.remove()
			g, err = nil, fmt.Errorf("make a cgroup: %w", err)
		}
	}()
	if c.memory != "" {
		g.memory = filepath.Join(c.memory, name)
		bytes := strconv.FormatInt(limits.MemoryBytes+ownMemoryBytes, 10)
		if err := errors.Join(os.Mkdir(g.memory, 0o755), write(g.memory, "memory.limit_in_bytes", bytes)); err != nil {
			return g, err
		}
		// With swap, where the kernel counts that.
		if err := write(g.memory, "memory.memsw.limit_in_bytes", bytes); err != nil && !errors.Is(err, os.ErrNotExist) {
			return g, err
		}
	}
	if c.pids != "" {
		g.pids = filepath.Join(c.pids, name)
		if err := errors.Join(os.Mkdir(g.pids, 0o755), write(g.pids, "pids.max", strconv.Itoa(limits.Processes+ownThreads))); err != nil {
			return g, err
		}
	}
	return g, nil
}

func write(dir, name, value string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(value), 0)
}

// dirs are those that there are.
func (g *cgroup) dirs() (dirs []string) {
	if g == nil {
		return nil
	}
	for _, dir := range []string{g.memory, g.pids} {
		if dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// around has start start a process that is in the cgroups from its begin, and
// with it all that it will start. For that time the calling thread, which must
// be locked, is in them itself: for a thread that moves itself the kernel need
// not halt every fork and exit of the machine until it is sure that all
// processors have noticed, as it does where one process moves another.
func (g *cgroup) around(start func() error) error {
	defer func() {
		for _, dir := range g.dirs() {
			enter(filepath.Dir(dir)) // where it fails, the next run takes the thread along
		}
	}()
	for _, dir := range g.dirs() {
		if err := enter(dir); err != nil {
			return err
		}
	}
	return start()
}

// enter puts this thread in.
func enter(dir string) error {
	if err := write(dir, "tasks", "0"); err != nil {
		return fmt.Errorf("enter a cgroup: %w", err)
	}
	return nil
}

// memoryUse tells the most that was in use at once, and whether more was
// wanted: the kernel has killed for it, or the run was killed before it could.
func (g *cgroup) memoryUse() (peak int64, exhausted bool) {
	if g == nil || g.memory == "" {
		return 0, false
	}
	used, _ := os.ReadFile(filepath.Join(g.memory, "memory.max_usage_in_bytes")) // 0 where it cannot be told
	peak, _ = strconv.ParseInt(strings.TrimSpace(string(used)), 10, 64)
	control, _ := os.ReadFile(filepath.Join(g.memory, "memory.oom_control"))
	for line := range strings.Lines(string(control)) {
		if kills, found := strings.CutPrefix(line, "oom_kill "); found && strings.TrimSpace(kills) != "0" {
			exhausted = true
		}
	}
	return peak, exhausted || g.exhausted.Load()
}

// whenExhausted calls kill once the kernel has run out of the run's memory,
// and before the cgroup is removed.
func (g *cgroup) whenExhausted(kill func()) error {
	if g == nil || g.memory == "" {
		return nil
	}
	control, err := os.Open(filepath.Join(g.memory, "memory.oom_control"))
	if err != nil {
		return err
	}
	defer control.Close()
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return err
	}
	g.event = os.NewFile(uintptr(fd), "memory event")
	if err := write(g.memory, "cgroup.event_control", fmt.Sprintf("%d %d", fd, control.Fd())); err != nil {
		return err
	}
	g.watching.Go(func() {
		if n, _ := g.event.Read(make([]byte, 8)); n > 0 { // else it was closed
			g.exhausted.Store(true)
			kill()
		}
	})
	return nil
}

// remove removes the cgroups of a run that has ended.
func (g *cgroup) remove() error {
	var errs []error
	if g != nil && g.event != nil {
		errs = append(errs, g.event.Close())
		g.watching.Wait()
	}
	for _, dir := range g.dirs() {
		errs = append(errs, removeCgroup(dir))
	}
	return errors.Join(errs...)
}

func removeCgroup(dir string) error {
	for deadline := time.Now().Add(removalPatience); ; time.Sleep(time.Millisecond) {
		err := os.Remove(dir)
		if err == nil || errors.Is(err, os.ErrNotExist) || time.Now().After(deadline) {
			return err
		}
	}
}
