package egress

import (
	"encoding/binary"
	"net"
	"net/netip"
	"time"
)

// Of SOCKS 5 (RFC 1928), and the one version before it.
const (
	socks4 = 4
	socks5 = 5

	socksNoPassword = 0x00
	socksNoMethod   = 0xff
	socksConnect    = 1
	socksIPv4       = 1
	socksName       = 3
	socksIPv6       = 4

	socksGranted     = 0
	socksNotAllowed  = 2
	socksUnreachable = 4
	socksNoCommand   = 7
	socksNoAddress   = 8
)

// serveSOCKS serves one connection of which the first byte says SOCKS 5.
func (s *Session) serveSOCKS(program *conn) {
	host, port, code := readSOCKS(program)
	if code != socksGranted {
		s.refuse(&refusal{host: host, port: port, reason: socksReason(code)}, "SOCKS")
		replySOCKS(program, code)
		return
	}
	s.tunnel(s.ctx, program, host, port, func(refused *refusal) {
		switch {
		case refused == nil:
			replySOCKS(program, socksGranted)
		case refused.reason == Unreachable:
			replySOCKS(program, socksUnreachable)
		default:
			replySOCKS(program, socksNotAllowed)
		}
	})
}

func socksReason(code byte) Reason {
	if code == socksNotAllowed {
		return InvalidHost
	}
	return BadRequest
}

// readSOCKS reads what a program wants to connect to. Only names are served, and
// only connecting to them.
func readSOCKS(program *conn) (host string, port int, code byte) {
	_ = program.SetReadDeadline(time.Now().Add(firstTimeout))
	defer func() { _ = program.SetReadDeadline(time.Time{}) }()
	if !greetSOCKS(program) {
		return "", 0, socksNoMethod
	}
	head, err := program.take(4)
	if err != nil || head[0] != socks5 {
		return "", 0, socksNoCommand
	}
	command, kind := head[1], head[3]
	if host, err = readSOCKSHost(program, kind); err != nil {
		return "", 0, socksNoAddress
	}
	portBytes, err := program.take(2)
	if err != nil {
		return host, 0, socksNoAddress
	}
	port = int(binary.BigEndian.Uint16(portBytes))
	switch {
	case command != socksConnect:
		return host, port, socksNoCommand
	case kind != socksName:
		return host, port, socksNotAllowed
	}
	return host, port, socksGranted
}

// greetSOCKS agrees on no password, which nobody needs here.
func greetSOCKS(program *conn) bool {
	head, err := program.take(2)
	if err != nil {
		return false
	}
	methods, err := program.take(int(head[1]))
	if err != nil {
		return false
	}
	for _, method := range methods {
		if method == socksNoPassword {
			_, err := program.Write([]byte{socks5, socksNoPassword})
			return err == nil
		}
	}
	return false
}

func readSOCKSHost(program *conn, kind byte) (string, error) {
	switch kind {
	case socksName:
		length, err := program.take(1)
		if err != nil {
			return "", err
		}
		name, err := program.take(int(length[0]))
		return string(name), err
	case socksIPv4, socksIPv6:
		address, err := program.take(map[byte]int{socksIPv4: 4, socksIPv6: 16}[kind])
		if err != nil {
			return "", err
		}
		parsed, _ := netip.AddrFromSlice(address)
		return parsed.String(), nil
	default:
		return "", net.UnknownNetworkError("SOCKS address")
	}
}

func replySOCKS(program *conn, code byte) {
	_ = program.SetWriteDeadline(time.Now().Add(firstTimeout))
	if code == socksNoMethod {
		_, _ = program.Write([]byte{socks5, socksNoMethod})
		return
	}
	_, _ = program.Write([]byte{socks5, code, 0, socksIPv4, 0, 0, 0, 0, 0, 0})
	_ = program.SetWriteDeadline(time.Time{})
}
