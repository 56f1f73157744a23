package remote

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
)

const (
	// sshConns is how many connections there are at once besides streams.
	// Servers drop some of those that log in at the same time, by default
	// beyond ten.
	sshConns = 4
	// sshTimeout is how long an engine may take to say who it is, since ssh has
	// to log in first.
	sshTimeout = 20 * time.Second
)

// sshAddress is where the docker command is that has the engine.
type sshAddress struct {
	user, port string // empty: as the user's settings for ssh have it
	host       string
	socket     string // of the engine, on that machine; empty: docker knows
}

// What ssh makes of these may reach a shell, here (ProxyCommand, Match exec) or
// there, and what begins with a hyphen is taken for an option. So they hold
// only what means nothing to either.
var (
	sshUser   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@+-]*$`)
	sshHost   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	sshSocket = regexp.MustCompile(`^(/[A-Za-z0-9_.@+-]+)+$`)
)

// parseSSH takes addresses of the form ssh://[USER@]HOST[:PORT][/SOCKET].
func parseSSH(address string) (sshAddress, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.RawQuery != "" || parsed.ForceQuery || parsed.Fragment != "" {
		return sshAddress{}, errors.New("its address is not of the form ssh://[USER@]HOST[:PORT][/SOCKET]") // and may hold a password
	}
	if _, given := parsed.User.Password(); given {
		return sshAddress{}, errors.New("its address has a password, which ssh does not take")
	}
	to := sshAddress{user: parsed.User.Username(), host: parsed.Hostname(), port: parsed.Port(), socket: parsed.Path}
	if to.socket == "/" {
		to.socket = ""
	}
	port, err := strconv.ParseUint(to.port, 10, 16)
	switch ip, notIP := netip.ParseAddr(to.host); {
	case to.user != "" && !sshUser.MatchString(to.user):
		return sshAddress{}, fmt.Errorf("its user %q is none for ssh", to.user)
	case !sshHost.MatchString(to.host) && (notIP != nil || ip.Zone() != ""):
		return sshAddress{}, fmt.Errorf("its host %q is none for ssh", to.host)
	case to.port != "" && (err != nil || port == 0):
		return sshAddress{}, fmt.Errorf("its port %q is none", to.port)
	case to.socket != "" && !sshSocket.MatchString(to.socket):
		return sshAddress{}, fmt.Errorf("its path %q is none of a socket", to.socket)
	}
	return to, nil
}

// arguments are those of an ssh that connects its standard streams with the
// engine. Whom to trust and how to log in are settled by the user's settings
// for ssh; these only keep it from asking, from forwarding anything, from
// running another command, and from leaving a process behind for others.
func (to sshAddress) arguments() []string {
	list := []string{
		"-T", "-a", "-x",
		"-o", "BatchMode=yes",
		"-o", "ClearAllForwardings=yes",
		"-o", "ConnectTimeout=10",
		"-o", "ControlMaster=no",
		"-o", "PermitLocalCommand=no",
		"-o", "RemoteCommand=none",
		"-o", "ServerAliveInterval=15",
		"-o", "ServerAliveCountMax=3",
	}
	if to.user != "" {
		list = append(list, "-l", to.user)
	}
	if to.port != "" {
		list = append(list, "-p", to.port)
	}
	list = append(list, "--", to.host, "docker")
	if to.socket != "" {
		list = append(list, "--host=unix://"+to.socket)
	}
	return append(list, "system", "dial-stdio")
}

func sshRoute(at engine.Endpoint) (engine.Route, error) {
	to, err := parseSSH(at.Host)
	if err != nil {
		return engine.Route{}, fmt.Errorf("%w: %w", engine.ErrNoEngine, err)
	}
	dialer := newSSHDialer(to.arguments())
	return engine.Route{Dial: dialer.dial, Conns: sshConns, Timeout: sshTimeout, Explain: dialer.explain, Close: dialer.close}, nil
}
