package web

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// unusedConns are the connections by which no request has come yet. Clients
// make them ahead; the library's shutdown would wait for each for seconds.
type unusedConns struct {
	closed atomic.Bool
	conns  sync.Map // of net.Conn
}

// note is for [http.Server.ConnState].
func (u *unusedConns) note(conn net.Conn, state http.ConnState) {
	if state != http.StateNew {
		u.conns.Delete(conn)
		return
	}
	u.conns.Store(conn, nil)
	if u.closed.Load() {
		_ = conn.Close()
	}
}

// close ends them, and those that still come.
func (u *unusedConns) close() {
	u.closed.Store(true)
	for conn := range u.conns.Range {
		_ = conn.(net.Conn).Close()
	}
}
