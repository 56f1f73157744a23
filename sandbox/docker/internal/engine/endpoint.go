package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/docker/docker/client"
)

// endpoint is where an engine may listen: what DOCKER_HOST and its relatives
// say, or the address that is given.
type endpoint struct {
	host string // such as "unix:///run/podman/podman.sock"
	tls  tlsSettings
}

// dial connects to the engine that listens there, as [Dial] does.
func (p endpoint) dial(ctx context.Context, here bool) (*Engine, error) {
	way, err := p.route()
	if err != nil {
		return nil, err
	}
	if here && way.elsewhere {
		return nil, ErrElsewhere
	}
	ctx, cancel := context.WithTimeout(ctx, way.patience)
	defer cancel()
	api, err := client.NewClientWithOpts(append(way.options, client.WithVersionFromEnv(), client.WithAPIVersionNegotiation())...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoEngine, err)
	}
	e := &Engine{api: api, Elsewhere: way.elsewhere, ssh: way.ssh}
	if err := e.identify(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// route is how an engine is reached.
type route struct {
	options   []client.Opt
	elsewhere bool          // by anything but a unix socket or a named pipe
	ssh       *sshDialer    // nil if it is not reached by ssh
	patience  time.Duration // how long it may take to say who it is
}

func (p endpoint) route() (route, error) {
	scheme, _, _ := strings.Cut(p.host, "://")
	switch scheme {
	case "unix", "npipe":
		return route{options: []client.Opt{client.WithHost(p.host)}, patience: dialPatience}, nil
	case "tcp", "http", "https":
		return p.tcpRoute()
	case "ssh":
		return p.sshRoute()
	}
	return route{}, fmt.Errorf("%w: its address begins with none of unix://, npipe://, tcp://, http://, https:// and ssh://", ErrNoEngine)
}

// findEndpoints gives where engines may listen, in the order in which they are
// tried: only the given host, DOCKER_HOST or the context of Docker's command
// where there is one, else the sockets of Docker and of Podman that exist.
func findEndpoints(host string) ([]endpoint, error) {
	if host == "" {
		host = os.Getenv("DOCKER_HOST")
	}
	if host != "" {
		return []endpoint{{host: host, tls: environmentTLS()}}, nil
	}
	if name := contextName(); name != "" && name != "default" {
		chosen, err := contextEndpoint(name)
		return []endpoint{chosen}, err
	}
	if runtime.GOOS == "windows" {
		return []endpoint{{host: client.DefaultDockerHost}}, nil
	}
	var found []endpoint
	for _, socket := range sockets() {
		if _, err := os.Stat(socket); err == nil {
			found = append(found, endpoint{host: "unix://" + socket})
		}
	}
	if len(found) == 0 {
		return nil, errors.New("there is no socket of Docker or Podman")
	}
	return found, nil
}

func sockets() []string {
	list := []string{"/var/run/docker.sock"}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		list = append(list, filepath.Join(dir, "docker.sock"), filepath.Join(dir, "podman", "podman.sock"))
	}
	return append(list, "/run/podman/podman.sock")
}
