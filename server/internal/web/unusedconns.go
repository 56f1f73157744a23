package web

import (
	"net"
	"net/http"
	"sync"
)

// unusedConns are the connections by which no request has come yet. Clients
// make them ahead; the library's shutdown would wait for each for seconds.
type unusedConns struct {
	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]struct{}
}

// note is for [http.Server.ConnState].
func (u *unusedConns) note(conn net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(u.conns, conn)
	case u.closed:
		_ = conn.Close()
	default:
		if u.conns == nil {
			u.conns = map[net.Conn]struct{}{}
		}
		u.conns[conn] = struct{}{}
	}
}

// close ends them, and those that still come.
func (u *unusedConns) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	for conn := range u.conns {
		_ = conn.Close()
	}
}
