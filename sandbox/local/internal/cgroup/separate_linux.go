package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/dirlock"
)

// separate are hierarchies of version 1, one for each controller; an empty
// path means that there is none to use.
type separate struct{ memory, pids, cpu string }

// quotaFile bounds processor time, where the kernel was built to do that.
const quotaFile = "cpu.cfs_quota_us"

// findSeparate finds where this process may make cgroups of version 1. Nil
// means nowhere.
func findSeparate(own memberships) hierarchy {
	h := new(separate)
	for controller, dir := range map[string]*string{"memory": &h.memory, "pids": &h.pids, "cpu": &h.cpu} {
		place, err := own.separate(controller)
		if err != nil {
			continue
		}
		sweep(place.dir)
		if probe := filepath.Join(place.dir, newName()); os.Mkdir(probe, 0o755) == nil {
			if _, err := os.Stat(filepath.Join(probe, quotaFile)); err == nil || controller != "cpu" {
				*dir = place.dir
			}
			os.Remove(probe) // empty
		}
	}
	if h.memory == "" && h.pids == "" {
		return nil
	}
	return h
}

func (h *separate) String() string { return fmt.Sprintf("version 1 below %q", h.dirs()) }

func (h *separate) bounds() Bounds {
	return Bounds{Memory: h.memory != "", Processes: h.pids != "", CPUs: h.cpu != ""}
}

func (h *separate) close() error { return nil }

// dirs are those that there are.
func (h *separate) dirs() []string { return given(h.memory, h.pids, h.cpu) }

// given leaves out what is empty.
func given(dirs ...string) []string {
	return slices.DeleteFunc(dirs, func(dir string) bool { return dir == "" })
}

func (h *separate) open(limits Limits) (_ Group, err error) {
	g, name := new(separateGroup), newName()
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Remove())
		}
	}()
	if h.memory != "" {
		g.memory = filepath.Join(h.memory, name)
		bytes := strconv.FormatInt(limits.MemoryBytes, 10)
		err := errors.Join(g.make(g.memory), write(g.memory, "memory.limit_in_bytes", bytes),
			writeIfThere(g.memory, "memory.memsw.limit_in_bytes", bytes)) // with swap, where the kernel counts that
		if err != nil {
			return nil, err
		}
	}
	if h.pids != "" && limits.Processes > 0 {
		g.pids = filepath.Join(h.pids, name)
		if err := errors.Join(g.make(g.pids), write(g.pids, "pids.max", strconv.Itoa(limits.Processes))); err != nil {
			return nil, err
		}
	}
	if quota := limits.quota(); h.cpu != "" && quota != "" {
		g.cpu = filepath.Join(h.cpu, name)
		err := errors.Join(g.make(g.cpu), write(g.cpu, "cpu.cfs_period_us", strconv.Itoa(quotaPeriod)), write(g.cpu, quotaFile, quota))
		if err != nil && !errors.Is(err, unix.EINVAL) { // a cgroup around it has less
			return nil, err
		}
	}
	return g, nil
}

// separateGroup is a cgroup in some of the hierarchies.
type separateGroup struct {
	memory, pids, cpu string     // directories, or empty
	locks             []*os.File // of those that there are
	event             *os.File   // tells that memory was exhausted, if set
	watching          sync.WaitGroup
	exhausted         atomic.Bool // the event has come
}

func (g *separateGroup) make(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	file, err := dirlock.Try(dir)
	if err == nil {
		g.locks = append(g.locks, file)
	}
	return err
}

// dirs are those that there are.
func (g *separateGroup) dirs() []string { return given(g.memory, g.pids, g.cpu) }

func (g *separateGroup) Enter(*syscall.SysProcAttr) []string { return g.dirs() }

// WhenExhausted is needed since the kernel kills one process, and others may
// go on.
func (g *separateGroup) WhenExhausted(kill func()) error {
	if g.memory == "" {
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

func (g *separateGroup) Kill() {} // version 2 only

// Usage reports that memory was exhausted also where the run was killed
// before the kernel had to.
func (g *separateGroup) Usage() Usage {
	if g.memory == "" {
		return Usage{}
	}
	return Usage{
		PeakMemoryBytes: readNumber(g.memory, "memory.max_usage_in_bytes"),
		OutOfMemory:     g.exhausted.Load() || readValue(g.memory, "memory.oom_control", "oom_kill") > 0,
	}
}

func (g *separateGroup) Remove() error {
	var errs []error
	if g.event != nil {
		errs = append(errs, g.event.Close())
		g.watching.Wait()
	}
	for _, dir := range g.dirs() {
		errs = append(errs, remove(dir))
	}
	for _, file := range g.locks {
		file.Close()
	}
	return errors.Join(errs...)
}
