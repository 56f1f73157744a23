//go:build amd64 || arm64

package jail

import "golang.org/x/sys/unix"

// connectLoopback brings up the one interface of a new network namespace, by
// which processes in it can reach each other and nobody else.
func connectLoopback() error {
	const step = "bring up the loopback interface"
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return failed(step, err)
	}
	defer unix.Close(fd)
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return failed(step, err)
	}
	loopback.SetUint16(unix.IFF_UP)
	return failed(step, unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, loopback))
}
