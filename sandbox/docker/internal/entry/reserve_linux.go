//go:build amd64 || arm64

package entry

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
)

// Reserves are how much memory is kept from the program for what comes after
// it, a report and what it has changed of copies: what it left there, such as
// files of no length or shared memory, may be all that the run may have.
const (
	reportReserveBytes = 1 << 20
	copiesReserveBytes = 8 << 20
)

// reserve is the pid of a process that has memory and uses it for nothing, or 0.
// Between the end of the program's last process and the release this process
// may need a page, be it one of its own program, when there is none: then the
// kernel kills the reserve for it, whose score is higher. Memory of this process
// would be of no help, since it is only given up by what runs.
type reserve int

// newReserve returns when memory is reserved. Where it cannot be, the program
// may have all there is.
func newReserve(order protocol.Order, score oomScore) reserve {
	size := uintptr(reportReserveBytes)
	if order.Files {
		size = copiesReserveBytes
	}
	var ready [2]int
	if unix.Pipe2(ready[:], unix.O_CLOEXEC) != nil {
		return 0
	}
	pid, err := score.start(score.reserve, func() (int, error) {
		var pid int
		var errno syscall.Errno
		reaper.WithoutSignals(func() { pid, errno = forkReserve(size, uintptr(ready[1])) })
		if errno != 0 {
			return 0, errno
		}
		return pid, nil
	})
	unix.Close(ready[1])
	if err == nil {
		unix.Read(ready[0], make([]byte, 1)) // the end, when the other end is closed
	}
	unix.Close(ready[0])
	return reserve(pid)
}

// release gives the memory back.
func (r reserve) release() {
	if r > 0 {
		unix.Kill(int(r), unix.SIGKILL)
		unix.Wait4(int(r), nil, unix.WALL, nil)
	}
}

// forkReserve makes a process that takes memory, closes ready and all else, and
// then waits to be killed. It says nothing of its end (clone(2), exit signal 0), so
// that who waits for the program's processes does not find it. In the new process
// only this thread lives: nothing may be called but system calls.
//
//go:nosplit
//go:norace
func forkReserve(size, ready uintptr) (int, syscall.Errno) {
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, 0, 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return int(pid), errno
	}
	const noFile = ^uintptr(0)
	syscall.RawSyscall6(unix.SYS_MMAP, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE, noFile, 0)
	syscall.RawSyscall(unix.SYS_CLOSE, ready, 0, 0)
	syscall.RawSyscall(unix.SYS_CLOSE_RANGE, 0, 1<<31-1, 0) // since Linux 5.9; else they end with this process
	for {
		syscall.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
	}
}
