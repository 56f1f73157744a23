package egress

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// copyBytes is what is read at once. A connection that fills it is one on which
	// much comes, of which the kernel then moves up to spliceBytes by itself.
	copyBytes   = 32 << 10
	spliceBytes = 4 << 20
)

// relay carries bytes between a program and a server.
type relay struct {
	session *Session
	account *entry
	moved   atomic.Int64 // when something moved last: Unix time in nanoseconds
}

// run returns when both directions are at their end. It closes neither.
func (r *relay) run(program, server *conn) {
	r.moved.Store(time.Now().UnixNano())
	var both sync.WaitGroup
	both.Go(func() { r.carry(server, program) })
	both.Go(func() { r.carry(program, server) })
	both.Wait()
}

// carry copies until from is at its end, and says so to the other side. Anything
// but that ends both directions.
func (r *relay) carry(to, from *conn) {
	if err := r.copy(to, from); err != nil || to.CloseWrite() != nil {
		_ = to.Close()
		_ = from.Close()
	}
}

func (r *relay) copy(to, from *conn) error {
	buffer := make([]byte, copyBytes)
	for {
		n, err := r.read(from, buffer)
		if sent := r.send(to, buffer[:n]); sent != nil {
			return sent
		}
		if err == nil && n == len(buffer) && len(from.ahead) == 0 {
			err = r.splice(to, from)
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// send writes what may still pass, or nothing.
func (r *relay) send(to *conn, p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if !r.session.budget.take(len(p)) {
		return r.session.spent()
	}
	_ = to.SetWriteDeadline(time.Now().Add(idleTimeout))
	n, err := to.Write(p)
	r.account.bytes.Add(int64(n))
	return err
}

// read waits for as long as the other direction moves.
func (r *relay) read(from *conn, buffer []byte) (int, error) {
	for {
		_ = from.SetReadDeadline(time.Now().Add(idleTimeout))
		n, err := from.Read(buffer)
		if n > 0 {
			r.moved.Store(time.Now().UnixNano())
		}
		if n == 0 && isTimeout(err) && time.Since(time.Unix(0, r.moved.Load())) < idleTimeout {
			continue
		}
		return n, err
	}
}

// splice has the kernel move what comes, where it can.
func (r *relay) splice(to, from *conn) error {
	out, isTCP := tcpOf(to.Conn)
	in, both := tcpOf(from.Conn)
	if !isTCP || !both {
		return nil
	}
	granted := r.session.budget.reserve(spliceBytes)
	if granted == 0 {
		return r.session.spent()
	}
	now := time.Now()
	_ = in.SetReadDeadline(now.Add(spliceTime))
	_ = out.SetWriteDeadline(now.Add(idleTimeout))
	moved, err := io.CopyN(out, in, granted)
	r.session.budget.release(granted - moved)
	r.account.bytes.Add(moved)
	r.moved.Store(now.UnixNano())
	if isTimeout(err) && time.Since(now) < idleTimeout {
		return nil // nothing came for a while: read waits for what does
	}
	return err
}

// tcpOf returns the connection of the kernel, also of one that a sandbox counts.
func tcpOf(c net.Conn) (*net.TCPConn, bool) {
	if counted, ok := c.(interface{ TCP() *net.TCPConn }); ok {
		return counted.TCP(), true
	}
	tcp, ok := c.(*net.TCPConn)
	return tcp, ok
}

// spliceTime is how long the kernel is let alone.
const spliceTime = time.Second
