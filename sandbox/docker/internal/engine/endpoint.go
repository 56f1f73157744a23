package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/docker/docker/client"
)

// Endpoint is where an engine may listen: what DOCKER_HOST and its relatives
// say, or the address that is given.
type Endpoint struct {
	Host string // such as "unix:///run/podman/podman.sock"
	TLS  TLS
}

// TLS is what Docker's settings say of TLS. It is for connections over TCP only.
type TLS struct {
	Asked      bool
	Unverified bool // anybody's certificate is taken
	// Dir holds the engine's authority (ca.pem), and this client's certificate
	// (cert.pem, key.pem). What is not there is not used, unless Complete says
	// that all must be there. It may be empty.
	Dir      string
	Complete bool
}

// dial connects to the engine that listens there, as [Dial] does.
func (p Endpoint) dial(ctx context.Context, route func(Endpoint) (Route, error)) (*Engine, error) {
	e := new(Engine)
	options := []client.Opt{client.WithHost(p.Host)}
	if scheme, _, _ := strings.Cut(p.Host, "://"); scheme != "unix" && scheme != "npipe" {
		if route == nil {
			return nil, ErrElsewhere
		}
		var err error
		if e.route, err = route(p); err != nil {
			return nil, err
		}
		e.Elsewhere, options = true, e.route.options()
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(e.route.Timeout, dialTimeout))
	defer cancel()
	api, err := client.NewClientWithOpts(append(options, client.WithVersionFromEnv(), client.WithAPIVersionNegotiation())...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoEngine, err)
	}
	e.api = api
	if err := e.identify(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// findEndpoints returns where engines may listen, in the order in which they are
// tried: only the given host, DOCKER_HOST or the context of Docker's command
// where there is one, else the sockets of Docker and of Podman that exist.
func findEndpoints(host string) ([]Endpoint, error) {
	if host == "" {
		host = os.Getenv("DOCKER_HOST")
	}
	if host != "" {
		return []Endpoint{{Host: host, TLS: environmentTLS()}}, nil
	}
	if name := contextName(); name != "" && name != "default" {
		chosen, err := contextEndpoint(name)
		return []Endpoint{chosen}, err
	}
	if runtime.GOOS == "windows" {
		return []Endpoint{{Host: client.DefaultDockerHost}}, nil
	}
	var found []Endpoint
	sockets := []string{"/var/run/docker.sock"}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		sockets = append(sockets, filepath.Join(dir, "docker.sock"), filepath.Join(dir, "podman", "podman.sock"))
	}
	for _, socket := range append(sockets, "/run/podman/podman.sock") {
		if _, err := os.Stat(socket); err == nil {
			found = append(found, Endpoint{Host: "unix://" + socket})
		}
	}
	if len(found) == 0 {
		return nil, errors.New("there is no socket of Docker or Podman")
	}
	return found, nil
}

// environmentTLS reads the variables of Docker's command and of its client
// library, which differ: with DOCKER_TLS_VERIFY alone, the command takes the
// files beside its settings, and the library no TLS at all; with
// DOCKER_CERT_PATH alone, the library takes TLS with anybody, and the command
// none.
func environmentTLS() TLS {
	dir, verify := os.Getenv("DOCKER_CERT_PATH"), os.Getenv("DOCKER_TLS_VERIFY") != ""
	switch {
	case dir == "" && !verify:
		return TLS{}
	case dir == "":
		dir = configDir()
	}
	return TLS{Asked: true, Unverified: !verify, Dir: dir, Complete: true}
}
