//go:build amd64 || arm64

package entry

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
)

// run runs the program of an order and returns when none of its processes is
// left.
func run(order protocol.Order, stdin []byte, score oomScore) protocol.Report {
	exceeded := quota(order) // before the program adds to what there is
	reserve := newReserve(order, score)
	pid, err := start(order, stdin, score)
	if err != nil {
		reserve.release()
		return protocol.Report{Errno: errnoOf(err)}
	}
	outcome := reaper.Watch{
		PID: pid, Other: int(reserve), Released: released(), Timeout: order.Timeout, Exceeded: exceeded,
		KillAll:  func() { unix.Kill(-1, unix.SIGKILL) }, // all but this process
		NoneLeft: reserve.release,
	}.Wait()
	report := protocol.Report{Ending: outcome.Ending, OverQuota: outcome.OverQuota}
	report.PeakMemoryBytes, report.OOMKills = memoryUsed()
	return report
}

// start starts the program on this process's output streams.
func start(order protocol.Order, data []byte, score oomScore) (int, error) {
	stdin, err := input(data)
	if err != nil {
		return 0, err
	}
	defer stdin.Close()
	if err := limit(order); err != nil {
		return 0, err
	}
	reaper.DefaultSignals()
	if err := keepScheduling(); err != nil {
		return 0, err
	}
	return score.start(programScore, func() (int, error) {
		return syscall.ForkExec(order.Argv[0], order.Argv, &syscall.ProcAttr{
			Dir:   order.Dir,
			Env:   order.Env,
			Files: []uintptr{stdin.Fd(), 1, 2},
			Sys:   &syscall.SysProcAttr{Setsid: true},
		})
	})
}

// limit sets what the engine may not have set: rootless ones cannot. This
// process has the same limits as the program, and needs none of it.
func limit(order protocol.Order) error {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0}
	if order.FileBytes > 0 {
		limits[unix.RLIMIT_FSIZE] = order.FileBytes
	}
	if order.OpenFiles > 0 {
		limits[unix.RLIMIT_NOFILE] = order.OpenFiles
	}
	return reaper.SetLimits(limits)
}

// input returns the end of a pipe from which the program reads data.
func input(data []byte) (*os.File, error) {
	if len(data) == 0 {
		return os.Open(os.DevNull)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		defer write.Close()
		write.Write(data) // the program need not read it all
	}()
	return read, nil
}

// released returns a channel that is closed when the server lets go, or says to
// kill.
func released() <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			fds := []unix.PollFd{{Fd: 0, Events: unix.POLLIN}}
			if n, err := unix.Poll(fds, -1); n > 0 || (err != nil && !errors.Is(err, unix.EINTR)) {
				return
			}
		}
	}()
	return gone
}

// quota returns what reports whether the copied workspace of an order holds too
// much; nil for no quota. It is a file system of its own, so the kernel counts,
// removed files that are open included.
func quota(order protocol.Order) (exceeded func() bool) {
	if !order.Files || order.WorkspaceBytes == 0 {
		return nil
	}
	bytes, files := usage(protocol.Workspace, protocol.Private)
	bytes, files = max(order.WorkspaceBytes, bytes), max(order.WorkspaceFiles, files)
	sharedBytes, sharedFiles := usage(order.Write...) // of what is shared only what comes counts
	bytes, files = bytes+sharedBytes, files+sharedFiles
	all := append([]string{protocol.Workspace, protocol.Private}, order.Write...)
	return func() bool {
		nowBytes, nowFiles := usage(all...)
		return nowBytes > bytes || nowFiles > files
	}
}

// usage adds up file systems.
func usage(dirs ...string) (bytes, files uint64) {
	for _, dir := range dirs {
		var fs unix.Statfs_t
		if unix.Statfs(dir, &fs) == nil && fs.Bsize > 0 {
			bytes += (fs.Blocks - fs.Bfree) * uint64(fs.Bsize)
			files += fs.Files - fs.Ffree
		}
	}
	return bytes, files
}

func errnoOf(err error) int {
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return int(errno)
	}
	return int(unix.EIO)
}
