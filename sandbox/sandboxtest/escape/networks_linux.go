package escape

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func networks() []Attempt {
	return group("network", []Attempt{
		{Name: "connect-tcp", Try: func(v Victims) error { return dial("tcp4", v.TCP) }},
		{Name: "connect-tcp-ipv6", Try: func(v Victims) error { return dial("tcp6", v.TCP6) }, Rare: true},
		{Name: "connect-mptcp", Try: connectMPTCP, Rare: true},
		{Name: "send-udp", Try: func(v Victims) error { return askUDP("udp4", v.UDP, "out") }},
		{Name: "send-udp-ipv6", Try: func(v Victims) error { return askUDP("udp6", v.UDP6, "out") }, Rare: true},
		{Name: "ask-dns", Try: func(v Victims) error { return askUDP("udp4", v.UDP, dnsQuery) }},
		{Name: "reach-cloud-metadata", Try: reachMetadata, Rare: true},
		{Name: "connect-address-of-host", Try: connectHost, Rare: true},
		{Name: "reach-group-of-hosts", Try: reachGroup, Rare: true},
		{Name: "be-reached-by-tcp", Try: beReached},
		{Name: "connect-by-bash", Shell: `exec 3<> "/dev/tcp/127.0.0.1/$VICTIM_TCP"`},
		{Name: "connect-unix-socket", Try: func(v Victims) error { return dialUnix("unix", v.Stream) }},
		{Name: "connect-abstract-socket", Try: func(v Victims) error { return dialUnix("unix", "@"+v.Abstract) }},
		{Name: "send-unix-datagram", Try: func(v Victims) error { return dialUnix("unixgram", v.Datagram) }},
		{Name: "send-by-socket-pair", Try: sendByPair},
		{Name: "open-netlink", Try: socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)},
		{Name: "open-netlink-of-others", Try: socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT)},
		{Name: "open-ping-socket", Try: socket(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP), Rare: true},
		{Name: "open-raw-socket", Try: socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP), Root: true},
		{Name: "open-packet-socket", Try: socket(unix.AF_PACKET, unix.SOCK_RAW, 0), Root: true, Rare: true},
		{Name: "open-vsock", Try: socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0), Rare: true},
		{Name: "open-crypto-socket", Try: socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0), Rare: true},
		{Name: "list-connections", Try: func(v Victims) error { return listsConnection(v, "self") }},
		{Name: "list-interfaces", Try: listInterfaces, Rare: true},
		{Name: "learn-host-name", Try: learnHostName},
	})
}

const dialPatience = 3 * time.Second

// loopback returns an address on the loopback interface.
func loopback(network string, port int) string {
	host := "127.0.0.1"
	if strings.HasSuffix(network, "6") {
		host = "::1"
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

func dial(network string, port int) error {
	connection, err := net.DialTimeout(network, loopback(network, port), dialPatience)
	if err != nil {
		return err
	}
	return connection.Close()
}

func dialUnix(network, name string) error {
	connection, err := net.DialTimeout(network, name, dialPatience)
	if err != nil {
		return err
	}
	return connection.Close()
}

func connectMPTCP(v Victims) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
	if err != nil {
		return err
	}
	return unix.Connect(fd, &unix.SockaddrInet4{Port: v.TCP, Addr: [4]byte{127, 0, 0, 1}})
}

func socket(family, kind, protocol int) func(Victims) error {
	return func(Victims) error {
		fd, err := unix.Socket(family, kind, protocol)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
}

const dnsQuery = "\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07example\x03com\x00\x00\x01\x00\x01"

// askUDP sends a packet and waits for the answer, without which nothing tells
// whether it went anywhere.
func askUDP(network string, port int, message string) error {
	connection, err := net.Dial(network, loopback(network, port))
	if err != nil {
		return err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(dialPatience)); err != nil {
		return err
	}
	if _, err := connection.Write([]byte(message)); err != nil {
		return err
	}
	_, err = connection.Read(make([]byte, len(message)))
	return err
}

// reachMetadata asks the kernel for the way to the address at which clouds
// tell machines their credentials. No packet is sent.
func reachMetadata(Victims) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	return unix.Connect(fd, &unix.SockaddrInet4{Port: 80, Addr: [4]byte{169, 254, 169, 254}})
}

// beReached waits for somebody outside who connects.
func beReached(v Victims) error {
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{Port: v.Callback})
	if err != nil {
		return err
	}
	defer listener.Close()
	if err := listener.SetDeadline(time.Now().Add(dialPatience)); err != nil {
		return err
	}
	connection, err := listener.Accept()
	if err != nil {
		return err
	}
	return connection.Close()
}

// connectHost connects by an address of the machine other than loopback.
func connectHost(v Victims) error {
	if v.Address == "" {
		return errNotSecret
	}
	connection, err := net.DialTimeout("tcp", net.JoinHostPort(v.Address, strconv.Itoa(v.AddressTCP)), dialPatience)
	if err != nil {
		return err
	}
	return connection.Close()
}

// reachGroup sends to a group and waits for an answer, which comes from the
// address of a member.
func reachGroup(v Victims) error {
	group, err := net.ResolveUDPAddr("udp4", v.Group)
	if err != nil {
		return err
	}
	connection, err := net.ListenUDP("udp4", nil)
	if err != nil {
		return err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(dialPatience)); err != nil {
		return err
	}
	if _, err := connection.WriteTo([]byte("out"), group); err != nil {
		return err
	}
	_, _, err = connection.ReadFrom(make([]byte, 8))
	return err
}

// sendByPair sends to a socket by name from one end of a pair, which a filter
// may take for harmless.
func sendByPair(v Victims) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	return unix.Sendto(pair[0], []byte("out"), 0, &unix.SockaddrUnix{Name: v.Datagram})
}

// listsConnection finds the listener of a victim in the table of a process.
func listsConnection(v Victims, process string) error {
	table, err := os.ReadFile("/proc/" + process + "/net/tcp")
	if err != nil {
		return err
	}
	if !strings.Contains(string(table), fmt.Sprintf(":%04X ", v.TCP)) {
		return errNotSecret
	}
	return nil
}

// listInterfaces finds one of the machine. Loopback everybody has.
func listInterfaces(v Victims) error {
	if v.Interface == "" {
		return errNotSecret
	}
	_, err := net.InterfaceByName(v.Interface)
	return err
}

func learnHostName(v Victims) error {
	name, err := os.Hostname()
	if err == nil && name != v.HostName {
		err = errNotSecret
	}
	return err
}
