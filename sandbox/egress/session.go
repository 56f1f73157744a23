package egress

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/elazarl/goproxy"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Session is the network of one run. It implements [sandbox.Egress]; its methods
// may be called from many goroutines.
type Session struct {
	proxy *Proxy
	grant Grant

	ctx       context.Context // ends when nothing more may pass
	cancel    context.CancelFunc
	dialer    *dialer
	questions *questions
	secrets   []*heldSecret
	ledger    *ledger
	requests  budget
	budget    budget
	overdrawn sync.Once

	server      *http.Server             // reads requests
	library     *goproxy.ProxyHttpServer // forwards them
	transport   *http.Transport
	connections chan struct{} // a slot for each of a program
	inFlight    chan struct{} // a slot for each request
	bulk        chan struct{} // a slot for each large buffer

	mu      sync.Mutex
	closed  bool
	open    map[io.Closer]struct{} // connections, and the listener
	running sync.WaitGroup         // what serves connections and requests
}

var _ sandbox.Egress = (*Session)(nil)

// Open returns a session for one run. It has to be closed. An error says what of
// the secrets cannot be used.
func (p *Proxy) Open(grant Grant) (*Session, error) {
	secrets, err := holdSecrets(grant.Secrets)
	if err != nil {
		return nil, err
	}
	s := &Session{
		proxy: p, grant: grant, secrets: secrets, ledger: newLedger(),
		dialer:      &dialer{resolver: p.options.Resolver, grant: grant, upstream: p.upstream},
		connections: make(chan struct{}, maxConnections),
		inFlight:    make(chan struct{}, maxInFlight),
		bulk:        make(chan struct{}, maxBulk),
		open:        map[io.Closer]struct{}{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.questions = &questions{session: s.ctx, put: grant.Ask, answers: map[hosts.Rule]Answer{}}
	s.budget.set(grant.maxBytes())
	s.requests.set(grant.maxRequests())
	s.transport = s.newTransport()
	s.server, s.library = s.newServer(), s.newLibrary()
	return s, nil
}

// Serve serves the connections to listener until that is closed, or the session
// is, and returns when none is open any more. It is called once.
func (s *Session) Serve(listener net.Listener) {
	if !s.keep(listener) {
		_ = listener.Close()
		return
	}
	for {
		select {
		case s.connections <- struct{}{}:
		case <-s.ctx.Done():
		}
		raw, err := s.accept(listener)
		if err != nil {
			break
		}
		program := newConn(raw)
		if !s.keep(program) || !s.begin() {
			_ = program.Close()
			break
		}
		go s.serveConn(program)
	}
	s.wait(closeGrace)
	s.Close()
}

// maxAcceptFailures is how often in turn a listener may fail, for want of file
// descriptors, before it counts as closed.
const maxAcceptFailures = 100

func (s *Session) accept(listener net.Listener) (net.Conn, error) {
	for failures := 0; ; failures++ {
		raw, err := listener.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) || failures == maxAcceptFailures {
			return raw, err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-s.ctx.Done():
			return nil, net.ErrClosed
		}
	}
}

// serveConn serves one connection of a program by what its first byte says.
func (s *Session) serveConn(program *conn) {
	defer s.running.Done()
	defer func() { <-s.connections }()
	defer s.drop(program)
	_ = program.SetReadDeadline(time.Now().Add(firstTimeout))
	first, err := program.peek(1)
	_ = program.SetReadDeadline(time.Time{})
	switch {
	case err != nil:
	case first[0] == socks5:
		s.serveSOCKS(program)
	case 'A' <= first[0] && first[0] <= 'Z':
		s.serveHTTP(program, program)
	default:
		s.refuse(&refusal{reason: BadRequest}, "")
		if first[0] == socks4 {
			_, _ = program.Write([]byte{0, 0x5b, 0, 0, 0, 0, 0, 0})
		}
	}
}

// begin counts what runs, if it still may.
func (s *Session) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.running.Add(1)
	}
	return !s.closed
}

// keep has Close close c.
func (s *Session) keep(c io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.open[c] = struct{}{}
	return true
}

// forget is called with what is closed already.
func (s *Session) forget(c io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// drop closes c.
func (s *Session) drop(c io.Closer) {
	s.forget(c)
	_ = c.Close()
}

// wait returns when nothing runs any more, or after some time.
func (s *Session) wait(limit time.Duration) {
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(limit):
	case <-s.ctx.Done():
	}
}

// Close ends all connections and lets nothing through any more. It returns when
// none is served any more.
func (s *Session) Close() {
	s.mu.Lock()
	s.closed = true
	s.cancel()
	open := slices.Collect(maps.Keys(s.open))
	clear(s.open)
	s.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
	s.running.Wait()
	s.transport.CloseIdleConnections()
}

// Usage returns what was asked for so far, also of a session that is closed.
func (s *Session) Usage() Usage { return s.ledger.usage() }
