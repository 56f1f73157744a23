// Package remote has the Docker backend use engines that do not share this
// machine's directories: it reaches those on other machines by TLS or ssh, and
// copies the files of a run to its container and what was changed back. Who is
// in between is not trusted, nor are programs, containers and engines with what
// they send back.
package remote

import (
	"fmt"
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
)

// Access is a [docker.Remote].
type Access struct {
	// Here leaves out engines that may be on another machine.
	Here bool
}

var _ docker.Remote = Access{}

// Route implements [docker.Remote].
func (a Access) Route(at engine.Endpoint) (route engine.Route, err error) {
	switch scheme, _, _ := strings.Cut(at.Host, "://"); scheme {
	case "tcp", "http", "https":
		route, err = tcpRoute(at)
	case "ssh":
		route, err = sshRoute(at)
	default:
		err = fmt.Errorf("%w: its address begins with none of unix://, npipe://, tcp://, http://, https:// and ssh://", engine.ErrNoEngine)
	}
	if err == nil && a.Here {
		err = engine.ErrElsewhere
	}
	return route, err
}
