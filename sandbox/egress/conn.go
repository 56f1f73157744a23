package egress

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
)

// conn is a connection of which the first bytes can be looked at. Its methods are
// for one reader.
type conn struct {
	net.Conn
	ahead []byte // received, and not yet read

	// target is what the connection is a tunnel to, if inner: the server of the
	// requests on it is no matter of theirs.
	target hosts.Rule
	inner  bool
	// begun are requests of which something was received, and served those that
	// reached a handler.
	begun, served atomic.Int32

	closing sync.Once
	closed  chan struct{}
}

func newConn(raw net.Conn) *conn {
	return &conn{Conn: raw, closed: make(chan struct{})}
}

func (c *conn) Read(p []byte) (int, error) {
	if len(c.ahead) == 0 {
		c.ahead = nil
		return c.Conn.Read(p)
	}
	n := copy(p, c.ahead)
	c.ahead = c.ahead[n:]
	return n, nil
}

// peek returns the next n bytes, which stay to be read. With an error it returns
// those that were received.
func (c *conn) peek(n int) ([]byte, error) {
	for len(c.ahead) < n {
		buffer := make([]byte, n-len(c.ahead))
		read, err := c.Conn.Read(buffer)
		c.ahead = append(c.ahead, buffer[:read]...)
		if err != nil {
			return c.ahead, err
		}
	}
	return c.ahead[:n], nil
}

// unread has bytes be read again.
func (c *conn) unread(p []byte) {
	c.ahead = append(p[:len(p):len(p)], c.ahead...)
}

// within returns the connection again after a server that buffers has had it.
func (c *conn) within(buffered *bufio.Reader) *conn {
	if n := buffered.Buffered(); n > 0 {
		ahead, _ := buffered.Peek(n)
		c.unread(ahead)
	}
	return c
}

// halfCloser is a connection that can say that nothing more is sent.
type halfCloser interface{ CloseWrite() error }

func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(halfCloser); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

func (c *conn) Close() error {
	err := net.ErrClosed
	c.closing.Do(func() {
		err = c.Conn.Close()
		close(c.closed)
	})
	return err
}

// oneConn is a listener of one connection, the end of which is its own.
type oneConn struct {
	conn     net.Conn // the one to accept
	carrier  *conn    // what it goes over
	accepted bool
}

func (l *oneConn) Accept() (net.Conn, error) {
	if !l.accepted {
		l.accepted = true
		return l.conn, nil
	}
	<-l.carrier.closed
	return nil, io.EOF
}

func (l *oneConn) Close() error   { return nil }
func (l *oneConn) Addr() net.Addr { return l.carrier.LocalAddr() }

// take reads exactly n bytes.
func (c *conn) take(n int) ([]byte, error) {
	taken, err := c.peek(n)
	if err != nil {
		return nil, err
	}
	taken = append([]byte(nil), taken...)
	c.ahead = c.ahead[n:]
	return taken, nil
}
