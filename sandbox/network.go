package sandbox

import "net"

// Egress is the way of a run's programs to the network: a proxy of HTTP and
// SOCKS5 that decides by name.
type Egress interface {
	// Serve takes the connections that programs make to [ProxyAddress] until the
	// listener is closed, which the backend does when no process of the run is
	// left. It returns when none of them is open any more; those that are some
	// seconds later are closed. What comes from them is not trusted. They have the
	// methods of [net.TCPConn], and a method TCP that returns the one inside.
	Serve(listener net.Listener)
}

// ProxyAddress is where the programs of a run with [Spec.Egress] reach it, on a
// loopback interface that is the run's own. Nothing else leads anywhere.
const ProxyAddress = "127.0.0.1:3128"
