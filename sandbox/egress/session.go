package egress

import (
	"net"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Session is the network of one run. It implements [sandbox.Egress]; its methods
// may be called from many goroutines.
type Session struct {
	proxy *Proxy
	grant Grant
}

var _ sandbox.Egress = (*Session)(nil)

// Open returns a session for one run. It holds nothing until it is served, but
// has to be closed. An error says what of the secrets cannot be used.
func (p *Proxy) Open(grant Grant) (*Session, error) {
	return &Session{proxy: p, grant: grant}, nil
}

// Serve serves the connections to listener until that is closed, or the session
// is, and returns when none is open any more. It is called once.
func (s *Session) Serve(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_ = conn.Close() // nothing is let through yet
	}
}

// Close ends all connections and lets nothing through any more. It returns when
// no goroutine of the session is left.
func (s *Session) Close() {}

// Usage returns what was asked for so far, also of a session that is closed.
func (s *Session) Usage() Usage { return Usage{} }
