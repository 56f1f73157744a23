package egress

import (
	"cmp"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// Bounds of one session, besides those of its [Grant].
const (
	maxConnections = 128              // of programs, at once; more wait
	maxInFlight    = 128              // requests, at once; more wait
	maxStreams     = 64               // requests at once on one connection
	maxBulk        = 16               // large buffers, at once; others do with small ones
	maxHeaderBytes = 64 << 10         // of a request
	maxAnswerBytes = 256 << 10        // of the headers of a response
	firstTimeout   = 30 * time.Second // for what has to come first on a connection, and for headers
	keepTimeout    = 2 * time.Minute  // between two requests on a connection
	idleTimeout    = 10 * time.Minute // for a connection on which nothing moves
	closeGrace     = time.Second      // for what dead programs have sent to arrive
)

// errTooMuch is met where [Grant.MaxBytes] is used up.
var errTooMuch = errors.New("egress: the run has used up the bytes that it may send and receive")

// budget is how much is left to a session, of bytes or of requests.
type budget struct {
	left  atomic.Int64
	limit int64
}

// take reports whether n more may pass; if not, nothing more may.
func (b *budget) take(n int) bool { return b.left.Add(-int64(n)) >= 0 }

// set sets the limit; what was taken counts.
func (b *budget) set(limit int64) {
	b.left.Add(limit - b.limit)
	b.limit = limit
}

// Lower lowers the limits of the session to those of another grant. It raises none
// of them, and changes nothing else.
func (s *Session) Lower(to Grant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget.set(min(s.budget.limit, to.maxBytes()))
	s.requests.set(min(s.requests.limit, to.maxRequests()))
}

func (g Grant) maxBytes() int64 { return cmp.Or(g.MaxBytes, DefaultMaxBytes) }

func (g Grant) maxRequests() int64 { return int64(cmp.Or(g.MaxRequests, DefaultMaxRequests)) }

// metered is a connection to a server: its bytes are counted, and it ends when
// nothing moves on it or when no more bytes may.
type metered struct {
	net.Conn
	session *Session
	account *entry
}

func (m *metered) Read(p []byte) (int, error) {
	_ = m.SetReadDeadline(time.Now().Add(idleTimeout))
	n, err := m.Conn.Read(p)
	return m.count(n, err)
}

func (m *metered) Write(p []byte) (int, error) {
	_ = m.SetWriteDeadline(time.Now().Add(idleTimeout))
	if !m.session.budget.take(len(p)) {
		return 0, m.session.spent(m.account)
	}
	n, err := m.Conn.Write(p)
	m.account.bytes.Add(int64(n))
	return n, err
}

func (m *metered) Close() error {
	m.session.forget(m)
	return m.Conn.Close()
}

func (m *metered) count(n int, err error) (int, error) {
	m.account.bytes.Add(int64(n))
	if n > 0 && !m.session.budget.take(n) {
		return 0, m.session.spent(m.account)
	}
	return n, err
}

// spent counts that the bytes are used up, once, where that was found, and returns
// the error.
func (s *Session) spent(account *entry) error {
	s.overdrawn.Do(func() {
		s.refuse(&refusal{host: account.key.host, port: account.key.port, reason: TooMuch}, "")
	})
	return errTooMuch
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
