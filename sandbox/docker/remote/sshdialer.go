package remote

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
)

// sshDialer makes connections, each by an ssh of its own.
type sshDialer struct {
	arguments []string

	mu      sync.Mutex
	closed  bool
	conns   map[*sshConn]struct{}
	failure error // of the latest that has failed
	work    sync.WaitGroup
}

func newSSHDialer(arguments []string) *sshDialer {
	return &sshDialer{arguments: arguments, conns: make(map[*sshConn]struct{})}
}

// dial starts an ssh. Whether it logs in is known when it is read from.
func (d *sshDialer) dial(context.Context) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, net.ErrClosed
	}
	c, err := startSSH(d.arguments)
	if err != nil {
		return nil, fmt.Errorf("start ssh: %w", err)
	}
	d.conns[c] = struct{}{}
	d.work.Go(func() { d.wait(c) })
	return c, nil
}

func (d *sshDialer) wait(c *sshConn) {
	c.wait()
	d.mu.Lock()
	delete(d.conns, c)
	if c.failure != nil {
		d.failure = c.failure
	}
	d.mu.Unlock()
	close(c.ended)
}

// explain returns what ssh said when it failed. Docker's client drops that
// where it looks like the error of a socket.
func (d *sshDialer) explain(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fmt.Errorf("%w: %w", engine.ErrNoSSH, cmp.Or(d.failure, err))
}

// close ends all connections and returns when no ssh is left.
func (d *sshDialer) close() {
	d.mu.Lock()
	d.closed = true
	for c := range d.conns {
		c.Close()
	}
	d.mu.Unlock()
	d.work.Wait()
}
