package process

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

const (
	// maxConnections is how many connections of a run are open at once. Others
	// wait with the kernel, which bounds them too.
	maxConnections = 256
	// acceptPause is the time between two attempts to accept a connection, where
	// this process has no open files left for one.
	acceptPause = 20 * time.Millisecond
	// finishTimeout is how long [sandbox.Egress.Serve] may take with what programs
	// have sent before they died, and serveTimeout how long to return when all
	// connections are closed.
	finishTimeout = 3 * time.Second
	serveTimeout  = 10 * time.Second
)

// ServeEgress has the run's [sandbox.Egress] take the connections of a listening
// socket, until no process of the run is left. A [Start] calls it once at most,
// before the program is started or soon after, where Spec.Egress is set and the
// socket is at [sandbox.ProxyAddress] in the run's own network. The file is
// closed, also by an error.
func (s *Streams) ServeEgress(socket *os.File) error {
	defer socket.Close()
	listener, err := net.FileListener(socket)
	if err != nil {
		return fmt.Errorf("listen to programs: %w", err)
	}
	tcp, ok := listener.(*net.TCPListener)
	if !ok || tcp.Addr().String() != sandbox.ProxyAddress || s.egress == nil || s.serving != nil {
		return errors.Join(fmt.Errorf("listen to programs at %s: it is not where they look", listener.Addr()), listener.Close())
	}
	s.serving = serve(s.egress, tcp)
	return nil
}

// stopServing closes the listener and, after a while, what is left of its
// connections, and waits until nothing uses them any more.
func (r *Runner) stopServing(s *Streams) {
	if s.serving != nil && !s.serving.stop() {
		r.log.Error("a run's connections are closed, but are still being served")
	}
}

// serving is an [sandbox.Egress] at work. It is the listener that this has.
type serving struct {
	*net.TCPListener
	free  chan struct{} // holds a token for each connection that is open
	ended chan struct{} // closed with the listener
	end   func()        // closes it
	done  chan struct{} // closed when Serve has returned

	mu   sync.Mutex
	open map[*connection]bool // nil when no more are taken
}

func serve(egress sandbox.Egress, listener *net.TCPListener) *serving {
	s := &serving{
		TCPListener: listener,
		free:        make(chan struct{}, maxConnections),
		ended:       make(chan struct{}),
		done:        make(chan struct{}),
		open:        make(map[*connection]bool),
	}
	s.end = sync.OnceFunc(func() { close(s.ended) })
	go func() {
		defer close(s.done)
		defer s.Close()
		egress.Serve(s)
	}()
	return s
}

// Accept implements [net.Listener]. It waits while too many connections are open,
// and fails only when the listener is closed.
func (s *serving) Accept() (net.Conn, error) {
	select {
	case s.free <- struct{}{}:
	case <-s.ended:
		return nil, net.ErrClosed
	}
	accepted, err := s.AcceptTCP()
	for err != nil {
		select {
		case <-s.ended:
			<-s.free
			return nil, net.ErrClosed
		case <-time.After(acceptPause):
			accepted, err = s.AcceptTCP()
		}
	}
	c := &connection{TCPConn: accepted}
	c.release = sync.OnceFunc(func() { s.forget(c) })
	s.mu.Lock()
	late := s.open == nil
	if !late {
		s.open[c] = true
	}
	s.mu.Unlock()
	if late {
		c.Close()
		return nil, net.ErrClosed
	}
	return c, nil
}

// Close implements [net.Listener].
func (s *serving) Close() error {
	s.end()
	return s.TCPListener.Close()
}

func (s *serving) forget(c *connection) {
	s.mu.Lock()
	delete(s.open, c)
	s.mu.Unlock()
	<-s.free
}

// stop ends all connections. It reports whether Serve has returned, for which it
// waits some time.
func (s *serving) stop() bool {
	s.Close()
	if s.returns(finishTimeout) {
		return true
	}
	s.mu.Lock()
	open := s.open
	s.open = nil
	s.mu.Unlock()
	for c := range open {
		c.Close()
	}
	return s.returns(serveTimeout)
}

// returns reports whether Serve has returned before some time has passed.
func (s *serving) returns(within time.Duration) bool {
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case <-s.done:
		return true
	case <-late.C:
		return false
	}
}

// connection is one of a program, which is counted while it is open. What it has
// besides what [net.Conn] has, such as CloseWrite, is of use to proxies.
type connection struct {
	*net.TCPConn
	release func()
}

// Close implements [net.Conn].
func (c *connection) Close() error {
	defer c.release()
	return c.TCPConn.Close()
}
