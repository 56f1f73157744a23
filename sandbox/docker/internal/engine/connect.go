package engine

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"time"

	"github.com/docker/docker/client"
)

const (
	// idleLife is how long a connection is kept for the next request, and
	// idleMax how many are.
	idleLife = time.Minute
	idleMax  = 6
)

// Route is how an engine elsewhere is reached.
type Route struct {
	// Dial makes a connection. All are made by it, for requests as for streams:
	// there is no proxy, and no TLS but that of Dial.
	Dial func(context.Context) (net.Conn, error)
	// Address is what requests are for, such as "tcp://host:2376/path". If
	// empty, it says nothing.
	Address string
	// Conns is how many connections are open at once besides streams. If zero,
	// there is no bound.
	Conns int
	// Timeout is how long the engine may take to say who it is. If zero, it is
	// that of an engine of this machine.
	Timeout time.Duration
	// Explain returns the error for an engine that does not answer, of which
	// Docker's client says err. If nil, it is ErrNoEngine.
	Explain func(err error) error
	// Close, if set, ends all connections.
	Close func()
}

// options returns those of a client.
func (r Route) options() []client.Opt {
	transport := &http.Transport{
		DisableCompression:  true,
		IdleConnTimeout:     idleLife,
		MaxIdleConns:        idleMax,
		MaxIdleConnsPerHost: idleMax,
		MaxConnsPerHost:     r.Conns,
	}
	return []client.Opt{
		client.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}),
		client.WithHost(cmp.Or(r.Address, "tcp://"+client.DummyHost)),
		func(*client.Client) error { // WithHost sets both
			transport.Proxy = nil
			transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return r.dialWatched(ctx) }
			return nil
		},
	}
}

// watch ends a connection with the context of the request for a stream that
// makes it. The client sees to that with its other connections only.
type watch struct{ stop func() bool }

type watchKey struct{}

// newWatch returns the context for a request for a stream.
func newWatch(ctx context.Context) (context.Context, *watch) {
	w := new(watch)
	return context.WithValue(ctx, watchKey{}, w), w
}

// dialWatched makes a connection.
func (r Route) dialWatched(ctx context.Context) (net.Conn, error) {
	conn, err := r.Dial(ctx)
	if w, ok := ctx.Value(watchKey{}).(*watch); ok && err == nil {
		w.stop = context.AfterFunc(ctx, func() { conn.Close() })
	}
	return conn, err
}

// release lets a connection outlive the context. It reports whether that was in
// time.
func (w *watch) release() bool { return w.stop == nil || w.stop() }
