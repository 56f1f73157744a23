package escape

import (
	"net"
	"strconv"
	"testing"
	"time"
)

// callbackInterval is how often somebody tries to reach an attempt.
const callbackInterval = 20 * time.Millisecond

// reach is what goes on in the machine's network besides loopback, and who
// outside would reach an attempt that listens.
func (s *scene) reach(t *testing.T) {
	t.Helper()
	if ours, address, found := ownAddress(); found {
		listener := serve(t, "tcp4", net.JoinHostPort(address, "0"))
		s.victims.Address, s.victims.AddressTCP = address, listener.Addr().(*net.TCPAddr).Port
		s.victims.Interface = ours.Name
		if member, err := net.ListenMulticastUDP("udp4", &ours, &net.UDPAddr{IP: net.IPv4(239, 255, 99, 1)}); err == nil {
			answer(t, member)
			s.victims.Group = net.JoinHostPort("239.255.99.1", strconv.Itoa(member.LocalAddr().(*net.UDPAddr).Port))
		}
	}
	free := serve(t, "tcp4", "127.0.0.1:0")
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	s.victims.Callback = port
	ctx, ended := t.Context(), make(chan struct{})
	t.Cleanup(func() { <-ended }) // the context ends before
	go func() {
		defer close(ended)
		for ticker := time.NewTicker(callbackInterval); ; {
			select {
			case <-ctx.Done():
				ticker.Stop()
				return
			case <-ticker.C:
			}
			if connection, err := net.DialTimeout("tcp4", loopback("tcp4", port), dialPatience); err == nil {
				connection.Close()
			}
		}
	}()
}

// ownAddress returns an address of the machine that is not on loopback.
func ownAddress() (net.Interface, string, bool) {
	interfaces, _ := net.Interfaces()
	for _, i := range interfaces {
		if i.Flags&net.FlagLoopback != 0 || i.Flags&net.FlagUp == 0 {
			continue
		}
		addresses, _ := i.Addrs()
		for _, address := range addresses {
			if network, ok := address.(*net.IPNet); ok && network.IP.To4() != nil {
				return i, network.IP.String(), true
			}
		}
	}
	return net.Interface{}, "", false
}
