//go:build unix

package sandboxtest

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// fifo is the reading end of a FIFO in a workspace. Processes that hold its
// other end are seen through every sort of namespace, and the kernel tells
// without delay whether there still is one.
type fifo struct{ fd int }

func watchFIFO(t *testing.T, workspace string) fifo {
	t.Helper()
	file := filepath.Join(workspace, "fifo")
	if err := unix.Mkfifo(file, 0o666); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return fifo{fd}
}

// expectDeath expects that processes held the FIFO, and that none does now.
func (f fifo) expectDeath(t *testing.T) {
	t.Helper()
	said := 0
	for buf := make([]byte, 4<<10); ; {
		n, err := unix.Read(f.fd, buf)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			t.Fatal("a process of the run is still alive")
		case err != nil:
			t.Fatal(err)
		case n == 0 && said == 0:
			t.Fatal("the process that was to survive never lived")
		case n == 0:
			return
		}
		said += max(n, 0)
	}
}
