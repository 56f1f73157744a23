package escape

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// proxyAttempts get around the proxy of a program, or at it. Many are those of
// programs that have none.
func proxyAttempts() []Attempt {
	again := func(name string) Attempt {
		for _, attempt := range networks() {
			if attempt.Name == name {
				attempt.Name += "-with-proxy"
				return attempt
			}
		}
		panic("there is no attempt " + name)
	}
	return []Attempt{
		again("connect-tcp"), again("connect-tcp-ipv6"), again("connect-mptcp"), again("send-udp"), again("ask-dns"),
		again("reach-cloud-metadata"), again("connect-address-of-host"), again("reach-group-of-hosts"), again("be-reached-by-tcp"),
		again("connect-unix-socket"), again("connect-abstract-socket"), again("list-connections"), again("list-interfaces"),
		again("open-raw-socket"), again("open-packet-socket"), again("open-vsock"),
		{Name: "have-route-to-others", Try: haveRoute, Rare: true},
		{Name: "list-connections-of-another-process", Try: func(v Victims) error { return listsConnection(v, strconv.Itoa(v.PID)) }},
		{Name: "list-connections-by-netlink", Try: listByNetlink},
		{Name: "send-connection-by-abstract-socket", Try: func(v Victims) error { return sendConnection("@" + v.Abstract) }},
		{Name: "send-connection-by-unix-socket", Try: func(v Victims) error { return sendConnection(v.Stream) }},
		{Name: "take-port-of-proxy", Try: takesPort(sandbox.ProxyAddress), Apart: true, Rare: true},
		{Name: "take-port-of-proxy-by-sharing-it", Try: takesPort(sandbox.ProxyAddress, unix.SO_REUSEADDR, unix.SO_REUSEPORT), Apart: true, Rare: true},
		{Name: "take-port-of-proxy-on-all-addresses", Try: takesPort(":3128", unix.SO_REUSEADDR, unix.SO_REUSEPORT), Apart: true, Rare: true},
		{Name: "steal-socket-of-proxy", Try: stealSocket, Rare: true, Alone: true},
		{Name: "enter-network-of-another-process", Try: enterNetwork, Root: true},
		{Name: "add-address", Try: addAddress, Root: true, Apart: true},
		{Name: "add-route", Try: addRoute, Root: true, Apart: true},
		{Name: "add-interface", Try: addInterface, Root: true, Apart: true, Rare: true},
		{Name: "bring-down-loopback", Try: func(Victims) error { return setLoopback(0) }, Root: true, Apart: true},
		{Name: "take-address-of-others", Try: takeAddress, Root: true},
		{Name: "filter-packets", Try: socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER), Rare: true},
	}
}

// haveRoute asks the kernel for a way to an address that is nobody's. No packet
// is sent.
func haveRoute(Victims) error {
	connection, err := net.Dial("udp4", "192.0.2.1:443")
	return errors.Join(err, closed(connection))
}

// sendConnection sends a socket to somebody outside, who could use it.
func sendConnection(address string) error {
	connection, err := net.DialTimeout("unix", address, dialPatience)
	if err != nil {
		return err
	}
	defer connection.Close()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	_, _, err = connection.(*net.UnixConn).WriteMsgUnix([]byte{0}, unix.UnixRights(fd), nil)
	if errors.Is(err, unix.EPIPE) { // it was answered already
		return nil
	}
	return err
}

// takesPort listens at an address, and succeeds where what connects to the proxy
// comes to it.
func takesPort(address string, options ...int) func(Victims) error {
	return func(Victims) error {
		setLoopback(unix.IFF_UP) // where it is not, in a new network
		config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
			return raw.Control(func(fd uintptr) {
				for _, option := range options {
					unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, option, 1)
				}
			})
		}}
		listener, err := config.Listen(context.Background(), "tcp", address)
		if err != nil {
			return err
		}
		defer listener.Close()
		connection, err := net.DialTimeout("tcp4", sandbox.ProxyAddress, dialPatience)
		if err != nil {
			return err
		}
		defer connection.Close()
		if err := listener.(*net.TCPListener).SetDeadline(time.Now().Add(time.Second)); err != nil {
			return err
		}
		accepted, err := listener.Accept()
		return errors.Join(err, closed(accepted))
	}
}

// stealSocket takes a listening socket from the process that started this one.
func stealSocket(Victims) error {
	parent, err := unix.PidfdOpen(os.Getppid(), 0)
	if err != nil {
		return err
	}
	for number := range 256 {
		fd, err := unix.PidfdGetfd(parent, number, 0)
		if err != nil {
			if errors.Is(err, unix.EBADF) {
				continue
			}
			return err
		}
		listening, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
		unix.Close(fd)
		if err == nil && listening == 1 {
			return nil
		}
	}
	return errNotSecret
}

func enterNetwork(v Victims) error {
	fd, err := unix.Open("/proc/"+strconv.Itoa(v.PID)+"/ns/net", unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return unix.Setns(fd, unix.CLONE_NEWNET)
}

// setLoopback sets the flags of the loopback interface.
func setLoopback(flags uint16) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(flags)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

// takeAddress has packets for any address be its own.
func takeAddress(Victims) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_TRANSPARENT, 1)
}

// loopbackIndex is the number of the loopback interface in every network.
const loopbackIndex = 1

func addAddress(Victims) error {
	message := []byte{unix.AF_INET, 32, 0, unix.RT_SCOPE_UNIVERSE}
	message = binary.NativeEndian.AppendUint32(message, loopbackIndex)
	message = append(message, attribute(unix.IFA_LOCAL, 192, 0, 2, 1)...)
	return change(unix.RTM_NEWADDR, message)
}

func addRoute(Victims) error {
	if err := setLoopback(unix.IFF_UP); err != nil {
		return err
	}
	message := []byte{unix.AF_INET, 0, 0, 0, unix.RT_TABLE_MAIN, unix.RTPROT_BOOT, unix.RT_SCOPE_LINK, unix.RTN_UNICAST, 0, 0, 0, 0}
	return change(unix.RTM_NEWROUTE, append(message, attribute(unix.RTA_OIF, loopbackIndex, 0, 0, 0)...))
}

func addInterface(Victims) error {
	kind := attribute(unix.IFLA_INFO_KIND, []byte("dummy\x00\x00\x00")...)
	return change(unix.RTM_NEWLINK, append(make([]byte, unix.SizeofIfInfomsg), attribute(unix.IFLA_LINKINFO, kind...)...))
}

// attribute encodes one of a message to the kernel, of which the length is a
// multiple of 4.
func attribute(kind uint16, value ...byte) []byte {
	encoded := binary.NativeEndian.AppendUint16(nil, uint16(unix.SizeofRtAttr+len(value)))
	return append(binary.NativeEndian.AppendUint16(encoded, kind), value...)
}

// change has the kernel change this network, and returns what it says.
func change(kind uint16, message []byte) error {
	answer, err := askKernel(unix.NETLINK_ROUTE, kind, unix.NLM_F_ACK|unix.NLM_F_CREATE|unix.NLM_F_EXCL, message)
	if err != nil {
		return err
	}
	if len(answer) < unix.SizeofNlMsghdr+4 || binary.NativeEndian.Uint16(answer[4:]) != unix.NLMSG_ERROR {
		return errNotSecret
	}
	if errno := -int32(binary.NativeEndian.Uint32(answer[unix.SizeofNlMsghdr:])); errno != 0 {
		return unix.Errno(errno)
	}
	return nil
}

// askKernel sends a message by netlink, and returns the answer.
func askKernel(protocol int, kind, flags uint16, message []byte) ([]byte, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, protocol)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	request := binary.NativeEndian.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(message)))
	request = binary.NativeEndian.AppendUint16(request, kind)
	request = binary.NativeEndian.AppendUint16(request, unix.NLM_F_REQUEST|flags)
	request = append(append(request, make([]byte, 8)...), message...)
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}); err != nil {
		return nil, err
	}
	var answer []byte
	for part := make([]byte, 64<<10); ; {
		n, err := unix.Read(fd, part)
		if err != nil || n < unix.SizeofNlMsghdr {
			return nil, err
		}
		answer = append(answer, part[:n]...)
		if kind := binary.NativeEndian.Uint16(part[4:]); flags&unix.NLM_F_DUMP == 0 || kind == unix.NLMSG_DONE || kind == unix.NLMSG_ERROR {
			return answer, nil
		}
	}
}

// listByNetlink finds the listener of a victim among the sockets that the kernel
// lists.
func listByNetlink(v Victims) error {
	const (
		byFamily   = 20 // SOCK_DIAG_BY_FAMILY
		listening  = 1 << 10
		diagnosis  = 4 // NETLINK_SOCK_DIAG
		idBytes    = 48
		sourcePort = unix.SizeofNlMsghdr + 4
	)
	message := binary.NativeEndian.AppendUint32([]byte{unix.AF_INET, unix.IPPROTO_TCP, 0, 0}, listening)
	answer, err := askKernel(diagnosis, byFamily, unix.NLM_F_DUMP, append(message, make([]byte, idBytes)...))
	if err != nil {
		return err
	}
	for len(answer) > sourcePort+2 {
		if int(binary.BigEndian.Uint16(answer[sourcePort:])) == v.TCP {
			return nil
		}
		length := int(binary.NativeEndian.Uint32(answer))
		if length < unix.SizeofNlMsghdr || length > len(answer) {
			break
		}
		answer = answer[(length+3)&^3:]
	}
	return errNotSecret
}
