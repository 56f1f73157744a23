package engine

import (
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

// dialFunc makes a connection to an engine.
type dialFunc func(context.Context) (net.Conn, error)

// connectBy gives the options of a client that makes all its connections, for
// requests as for streams, by dial alone: no proxy, and no TLS but that of
// dial. At most conns are open at once besides streams, if it is not zero.
func connectBy(dial dialFunc, host string, conns int) []client.Opt {
	transport := &http.Transport{
		DisableCompression:  true,
		IdleConnTimeout:     idleLife,
		MaxIdleConns:        idleMax,
		MaxIdleConnsPerHost: idleMax,
		MaxConnsPerHost:     conns,
	}
	return []client.Opt{
		client.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}),
		client.WithHost(host),
		func(*client.Client) error { // WithHost sets both
			transport.Proxy = nil
			transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial.watched(ctx) }
			return nil
		},
	}
}

// watch ends a connection with the context of the request for a stream that
// makes it. The client sees to that with its other connections only.
type watch struct{ stop func() bool }

type watchKey struct{}

// newWatch gives the context for a request for a stream.
func newWatch(ctx context.Context) (context.Context, *watch) {
	w := new(watch)
	return context.WithValue(ctx, watchKey{}, w), w
}

// watched makes a connection.
func (dial dialFunc) watched(ctx context.Context) (net.Conn, error) {
	conn, err := dial(ctx)
	if w, ok := ctx.Value(watchKey{}).(*watch); ok && err == nil {
		w.stop = context.AfterFunc(ctx, func() { conn.Close() })
	}
	return conn, err
}

// release lets a connection outlive the context. It tells whether that was in
// time.
func (w *watch) release() bool { return w.stop == nil || w.stop() }
