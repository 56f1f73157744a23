package egress

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// copyBytes is what is read at once, and bulkBytes where much comes: what a relay
// takes of the throughput is the kernel's copying, and that is fastest in large
// pieces. (Splicing takes more of a loopback's time, not less.)
const (
	copyBytes = 16 << 10
	bulkBytes = 1 << 20
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
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case n == len(buffer) && n == copyBytes:
			select {
			case r.session.bulk <- struct{}{}:
				defer func() { <-r.session.bulk }()
				buffer = make([]byte, bulkBytes)
			default:
			}
		}
	}
}

// send writes what may still pass, or nothing.
func (r *relay) send(to *conn, p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if !r.session.budget.take(len(p)) {
		return r.session.spent(r.account)
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
