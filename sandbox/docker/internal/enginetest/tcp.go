package enginetest

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// ServeTCP returns the address of a port that leads to this machine's engine
// until the end of the test, with TLS if there are settings for it.
func ServeTCP(t testing.TB, settings *tls.Config) (host string) {
	t.Helper()
	return Forward(t, Socket(t), settings)
}

// Forward is [ServeTCP] for the engine that listens at a socket.
func Forward(t testing.TB, engine string, settings *tls.Config) (host string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host = "tcp://" + listener.Addr().String()
	if settings != nil {
		listener = tls.NewListener(listener, settings)
	}
	serve(t, listener, func(ctx context.Context, near net.Conn) { connect(ctx, t, near, engine, join) })
	return host
}

// connect connects a client to the engine that listens at a socket, until a context
// ends: an engine may leave a request without an answer.
func connect(ctx context.Context, t testing.TB, near net.Conn, engine string, join func(near, far duplex)) {
	far, err := net.Dial("unix", engine)
	if err != nil {
		t.Error(err)
		return
	}
	defer far.Close()
	defer context.AfterFunc(ctx, func() { far.Close() })()
	join(near.(duplex), far.(duplex))
}

// ServeAttached is [ServeTCP] for an engine whose containers' streams are
// connected to clients by a function instead. It gets how many such connections
// were before; the engine has the first line of the request already. It tells
// whether the rest is to be copied both ways; else both sides are closed.
func ServeAttached(t testing.TB, attached func(before int, near, far net.Conn) (goOn bool)) (host string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var before atomic.Int32
	engine := Socket(t)
	serve(t, listener, func(ctx context.Context, near net.Conn) {
		connect(ctx, t, near, engine, func(near, far duplex) {
			request, err := ReadLine(near)
			if err != nil { // it is not needed any more
				return
			}
			io.WriteString(far, request)
			if !strings.Contains(request, "/attach?") || attached(int(before.Add(1))-1, near, far) {
				join(near, far)
			}
		})
	})
	return "tcp://" + listener.Addr().String()
}

// ReadLine reads a line, with its end, and nothing beyond it.
func ReadLine(r io.Reader) (line string, err error) {
	for one := make([]byte, 1); !strings.HasSuffix(line, "\n"); line += string(one) {
		if _, err := io.ReadFull(r, one); err != nil {
			return "", err
		}
	}
	return line, nil
}

// ServeTLS returns the address of a port that leads to this machine's engine for
// those who have the certificates in the directory.
func ServeTLS(t testing.TB) (host, certificates string) {
	t.Helper()
	authority := NewAuthority(t)
	return ServeTCP(t, authority.Server(t, net.IPv4(127, 0, 0, 1))), authority.Client(t)
}

// serve handles connections, each in a goroutine of its own, and ends all of
// them, and their context, at the end of the test.
func serve(t testing.TB, listener net.Listener, handle func(context.Context, net.Conn)) {
	ctx, cancel := context.WithCancel(context.Background()) // cleaning up may need connections too
	var work sync.WaitGroup
	var mu sync.Mutex
	open := make(map[net.Conn]bool)
	t.Cleanup(func() {
		cancel()
		listener.Close()
		mu.Lock()
		for conn := range open {
			conn.Close()
		}
		open = nil
		mu.Unlock()
		work.Wait()
	})
	work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil { // closed
				return
			}
			mu.Lock()
			if open == nil {
				conn.Close()
			} else {
				open[conn] = true
			}
			mu.Unlock()
			work.Go(func() {
				handle(ctx, conn)
				conn.Close()
				mu.Lock()
				delete(open, conn)
				mu.Unlock()
			})
		}
	})
}

// duplex is a connection whose ends close one by one.
type duplex interface {
	net.Conn
	CloseWrite() error
}

// join copies both ways until both sides have ended.
func join(a, b duplex) {
	var both sync.WaitGroup
	for _, way := range [][2]duplex{{a, b}, {b, a}} {
		both.Go(func() {
			io.Copy(way[0], way[1])
			way[0].CloseWrite()
		})
	}
	both.Wait()
}
