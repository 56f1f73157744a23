package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/dirlock"
)

// killFile kills all that is in a cgroup, since Linux 5.14.
const killFile = "cgroup.kill"

// unified is a cgroup of version 2 whose children have controllers.
type unified struct {
	dir  string
	pids bool
	cpu  bool
	undo func() error // nil where nothing is to be undone
}

func (h *unified) String() string { return "version 2 below " + h.dir }

func (h *unified) bounds() Bounds { return Bounds{Memory: true, Processes: h.pids, CPUs: h.cpu} }

func (h *unified) dirs() []string { return []string{h.dir} }

func (h *unified) close() error {
	if h.undo == nil {
		return nil
	}
	return h.undo()
}

func (h *unified) open(limits Limits) (_ Group, err error) {
	g := &unifiedGroup{dir: filepath.Join(h.dir, newName())}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Remove())
		}
	}()
	if g.file, err = dirlock.Try(g.dir); err != nil {
		return nil, err
	}
	err = errors.Join(
		write(g.dir, "memory.max", strconv.FormatInt(limits.MemoryBytes, 10)),
		writeIfThere(g.dir, "memory.swap.max", "0"), // where the kernel counts swap
		write(g.dir, "memory.oom.group", "1"))
	if err == nil && h.pids && limits.Processes > 0 {
		err = write(g.dir, "pids.max", strconv.Itoa(limits.Processes))
	}
	if quota := limits.quota(); err == nil && h.cpu && quota != "" {
		err = write(g.dir, "cpu.max", fmt.Sprintf("%s %d", quota, quotaPeriod))
	}
	return g, err
}

// try makes a cgroup and has a process begin in it, which fails to execute
// anything and so is never seen.
func (h *unified) try() error {
	g, err := h.open(Limits{MemoryBytes: 1 << 30, Processes: 1 << 10})
	if err != nil {
		return err
	}
	attr := new(syscall.SysProcAttr)
	g.Enter(attr)
	const nothing = "/dev/null/nothing"
	_, err = syscall.ForkExec(nothing, []string{nothing}, &syscall.ProcAttr{Sys: attr})
	if err == unix.ENOTDIR { // came from the new process
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("start a process in a cgroup: %w", err)
	}
	return errors.Join(err, g.Remove())
}

// unifiedGroup is a cgroup of version 2.
type unifiedGroup struct {
	dir  string
	file *os.File // the directory, locked
}

// Enter spares the new process the way into the cgroup, for which the kernel
// would have to stop all others.
func (g *unifiedGroup) Enter(attr *syscall.SysProcAttr) []string {
	attr.UseCgroupFD, attr.CgroupFD = true, int(g.file.Fd())
	return nil
}

// WhenExhausted has nothing to do: the kernel kills all of the cgroup.
func (*unifiedGroup) WhenExhausted(func()) error { return nil }

func (g *unifiedGroup) Kill() { write(g.dir, killFile, "1") }

func (g *unifiedGroup) Usage() Usage {
	return Usage{
		PeakMemoryBytes: readNumber(g.dir, "memory.peak"), // since Linux 5.19
		OutOfMemory:     readValue(g.dir, "memory.events", "oom_kill") > 0,
		CPUTime:         time.Duration(readValue(g.dir, "cpu.stat", "usage_usec")) * time.Microsecond,
	}
}

func (g *unifiedGroup) Remove() error {
	err := remove(g.dir)
	if g.file != nil {
		g.file.Close()
	}
	return err
}
