//go:build amd64 || arm64

package jail

import "golang.org/x/sys/unix"

// listenBacklog is how many connections wait to be accepted.
const listenBacklog = 128

// listen returns a socket that listens on the loopback interface of this
// process's network. No program can listen there besides: the socket does not
// share its port.
func listen(port int) (int, error) {
	const step = "listen to the program"
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, failed(step, err)
	}
	if err = unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		err = unix.Listen(fd, listenBacklog)
	}
	if err != nil {
		unix.Close(fd)
		return -1, failed(step, err)
	}
	return fd, nil
}
