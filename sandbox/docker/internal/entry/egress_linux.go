//go:build amd64 || arm64

package entry

import (
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

// passListener listens at an address and passes the listener to the server, so
// that only that has it.
func passListener(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	server, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(server)
	listener, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return err
	}
	defer unix.Close(listener)
	return inOrder(
		// First, so that the server hears of it when something fails.
		func() error { return unix.Connect(server, &unix.SockaddrUnix{Name: protocol.Passage}) },
		func() error {
			return unix.Bind(listener, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()})
		},
		func() error { return unix.Listen(listener, unix.SOMAXCONN) },
		func() error {
			return unix.Sendmsg(server, []byte{protocol.Ack}, unix.UnixRights(listener), nil, 0)
		},
	)
}
