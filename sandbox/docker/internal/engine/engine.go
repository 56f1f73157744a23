// Package engine reaches Docker and Podman engines and has them run hardened
// containers. It alone knows Docker's client. How engines of other machines are
// reached is told to it.
package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"
)

const (
	// minAPI is that of Docker Engine 20.10, the oldest that is tested.
	minAPI = "1.41"
	// dialTimeout is how long an engine may take to say who it is.
	dialTimeout = 10 * time.Second
)

// The reasons for which an engine cannot be used, as [Dial] returns them.
var (
	ErrNoEngine  = errors.New("no engine answers")
	ErrNoSSH     = errors.New("no engine answers over ssh")
	ErrInsecure  = errors.New("the connection to the engine is not secure")
	ErrElsewhere = errors.New("the engine may be on another machine")
)

// Engine is a Docker or a Podman engine.
type Engine struct {
	api *client.Client
	// Podman means that it is Podman's service.
	Podman bool
	// Elsewhere means that it is reached by anything but a unix socket or a
	// named pipe, so that it may be on another machine.
	Elsewhere bool
	route     Route
}

// Dial connects to the engine of that address or, if it is empty, to the first
// one that answers. Those that may be on another machine are reached as route
// says; if it is nil, they are not. The error is ErrNoEngine, ErrNoSSH,
// ErrInsecure or ErrElsewhere.
func Dial(ctx context.Context, host string, route func(Endpoint) (Route, error)) (*Engine, error) {
	endpoints, err := findEndpoints(host)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoEngine, err)
	}
	var errs []error
	for _, endpoint := range endpoints {
		e, err := endpoint.dial(ctx, route)
		if err == nil {
			return e, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// identify asks an engine who it is.
func (e *Engine) identify(ctx context.Context) error {
	// Once: what an engine is asked otherwise negotiates first, and goes on
	// where there is no answer.
	ping, err := e.api.Ping(ctx)
	if err != nil {
		return e.unreachable(err)
	}
	e.api.NegotiateAPIVersionPing(ping)
	version, err := e.api.ServerVersion(ctx)
	switch {
	case err != nil:
		return e.unreachable(err)
	case version.Os != "" && version.Os != "linux":
		return fmt.Errorf("%w: it runs %s containers", ErrNoEngine, version.Os)
	}
	if used := e.api.ClientVersion(); versions.LessThan(used, minAPI) {
		return fmt.Errorf("%w: its API is %s, needed is %s", ErrNoEngine, used, minAPI)
	}
	e.Podman = slices.ContainsFunc(version.Components, func(c types.ComponentVersion) bool { return c.Name == "Podman Engine" })
	return nil
}

// unreachable is the error for an engine that does not answer.
func (e *Engine) unreachable(err error) error {
	if e.route.Explain != nil {
		return e.route.Explain(err)
	}
	return fmt.Errorf("%w: %w", ErrNoEngine, err)
}

// Name is what hosts are told.
func (e *Engine) Name() string {
	if e.Podman {
		return "podman"
	}
	return "docker"
}

// Close ends all connections.
func (e *Engine) Close() error {
	err := e.api.Close()
	if e.route.Close != nil {
		e.route.Close()
	}
	return err
}
