package docker

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

// passage is a socket over which the entry program of one container passes a
// listener that it made in the container's network. It is closed before there is
// a program in the container that could use it.
type passage struct {
	dir    *tempdir.Dir // which is this user's alone
	socket *net.UnixListener
}

// passagePrefix begins the names of the directories of sockets.
const passagePrefix = "skills-mcp-docker-passage-"

// openPassage makes a socket, of which the directory is to be bound.
func openPassage() (*passage, error) {
	dir, err := tempdir.New("", passagePrefix)
	if err != nil {
		return nil, err
	}
	p := &passage{dir: dir}
	if err := p.listen(); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// bound is the directory that the container sees. Whatever user the container's
// is to this machine, it can reach the socket there, and no other user can here.
func (p *passage) bound() string { return filepath.Join(p.dir.Path(), "bound") }

func (p *passage) listen() error {
	const readable, writable = 0o755, 0o666
	if err := os.Mkdir(p.bound(), readable); err != nil {
		return err
	}
	dir, err := os.Open(p.bound()) // of which the path may be longer than that of a socket
	if err != nil {
		return err
	}
	defer dir.Close()
	name := fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(protocol.Passage))
	p.socket, err = net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		return err
	}
	p.socket.SetUnlinkOnClose(false) // by that name; it goes with the directory
	return errors.Join(os.Chmod(p.bound(), readable), os.Chmod(name, writable))
}

// putInto binds the socket into a container that is to be made, and tells its entry
// program where to listen.
func (p *passage) putInto(blueprint *engine.Blueprint) {
	blueprint.Binds = append(blueprint.Binds, engine.Bind{Source: p.bound(), Target: protocol.PassageDir, ReadOnly: true})
	blueprint.Command = append(slices.Clone(blueprint.Command), sandbox.ProxyAddress)
}

// receive returns the listener that comes until some time has passed. Who has
// connected first is the entry program, since nothing else was started that
// could.
func (p *passage) receive(timeout time.Duration) (listener *os.File, err error) {
	deadline := time.Now().Add(timeout)
	if err := p.socket.SetDeadline(deadline); err != nil {
		return nil, err
	}
	conn, err := p.socket.AcceptUnix()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	listener, err = receiveFile(conn)
	if err != nil {
		return nil, err
	}
	if err := checkListener(int(listener.Fd())); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// close removes the socket.
func (p *passage) close() error {
	var err error
	if p.socket != nil {
		err = p.socket.Close()
	}
	return errors.Join(err, p.dir.Close())
}

// errNotPassed means that something else came than one open file.
var errNotPassed = errors.New("the entry program passes no listener")

// receiveFile returns the one file that a message carries.
func receiveFile(conn *net.UnixConn) (*os.File, error) {
	message, control := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(message, control)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		return nil, errNotPassed
	}
	fds, err := unix.ParseUnixRights(&messages[0]) // as many as there was space for
	if err != nil || len(fds) != 1 {
		for _, fd := range fds {
			unix.Close(fd)
		}
		return nil, errNotPassed
	}
	return os.NewFile(uintptr(fds[0]), "listener"), nil
}

// checkListener reports what keeps a file from being a listener at
// [sandbox.ProxyAddress] in a network that is not this process's.
func checkListener(fd int) error {
	for option, want := range map[int]int{
		unix.SO_DOMAIN: unix.AF_INET, unix.SO_TYPE: unix.SOCK_STREAM, unix.SO_PROTOCOL: unix.IPPROTO_TCP, unix.SO_ACCEPTCONN: 1,
	} {
		if got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, option); err != nil || got != want {
			return errNotPassed
		}
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	at, ok := name.(*unix.SockaddrInet4)
	if !ok || net.JoinHostPort(net.IP(at.Addr[:]).String(), fmt.Sprint(at.Port)) != sandbox.ProxyAddress {
		return errNotPassed
	}
	network, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
	if err != nil { // before Linux 5.14
		return nil
	}
	own, err := ownNetwork()
	if err == nil && own == network {
		err = errNotPassed
	}
	return err
}

// ownNetwork identifies the network of this process, as the kernel does.
func ownNetwork() (uint64, error) {
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(socket)
	return unix.GetsockoptUint64(socket, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
}
