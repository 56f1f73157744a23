// Package egress is the way of a run's programs to the network: a proxy of HTTP
// and SOCKS5 that lets through what the run is granted by name, and puts secrets
// into requests that programs never see.
//
// There is one [Proxy] for a server process and one [Session] for each run. What
// comes from programs is not trusted: they choose every byte that arrives, and
// hold open what they like. What is not granted is refused, with an answer that
// says why, and counted in [Session.Usage].
//
//   - A host is reached by name alone; the proxy looks the name up once and
//     connects to the very address that it judged. Addresses of this machine, of
//     its links and of private networks are refused unless granted; those that
//     clouds keep for their metadata always.
//   - To port 443, and wherever a rule does not say http://, programs must speak
//     TLS, to the name that they asked for.
//   - For hosts of a [Secret] TLS ends at the proxy, with a certificate of an
//     authority that is made with the Proxy and whose key never leaves memory.
package egress

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net/netip"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
)

// Options are what all sessions of a [Proxy] share.
type Options struct {
	// Logger is for faults of the proxy itself. If nil, they are not logged.
	Logger *slog.Logger
	// Resolver looks names up. If nil, it is the system's.
	Resolver Resolver
	// RootCAs verify servers to which the proxy itself speaks TLS, those of
	// secrets. If nil, they are the system's.
	RootCAs *x509.CertPool
	// Environ is where HTTPS_PROXY, HTTP_PROXY and NO_PROXY may name a proxy of
	// the user, through which to go out: "NAME=value", as of os.Environ. If nil,
	// there is none.
	Environ []string
}

// Resolver looks up the addresses of a name, as *net.Resolver does; network is
// "ip".
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Grant is what one run may reach.
type Grant struct {
	// Skill is whose run it is: refusals name the command that grants with it.
	Skill string
	// Rules are the hosts.
	Rules []hosts.Rule
	// AllowPrivate are addresses of private networks, or of this machine, that
	// the hosts may have.
	AllowPrivate []netip.Prefix
	// MaxBytes is how many bytes may pass, both directions of all connections
	// together. If zero, it is [DefaultMaxBytes].
	MaxBytes int64
	// MaxRequests is how many requests and connections may be asked for, with
	// those that are refused. If zero, it is [DefaultMaxRequests].
	MaxRequests int
	// Secrets are what requests may carry. Their hosts are not granted by that.
	Secrets []Secret
	// Ask, if set, is called for what no rule allows, while the program waits; [Yes]
	// lets it be reached for the rest of the run, but for addresses that are not
	// public and without any secret. It is called once for each rule, for no more
	// than [MaxHosts] of them and one at a time, and ctx ends with the session.
	// Nothing is looked up before, which would send what the program chose.
	Ask func(ctx context.Context, wanted hosts.Rule) Answer
	// Log, if set, is called with all that is asked for, from any goroutine. It
	// must not block.
	Log func(Event)
}

// Defaults of a [Grant].
const (
	DefaultMaxBytes    = 1 << 30
	DefaultMaxRequests = 10_000
)

// Secret is a value that the proxy puts in the place of a placeholder, which is
// all that programs have of it.
type Secret struct {
	// Name is what [Usage] calls it.
	Name string
	// Placeholder is what programs send: from 8 to 4096 bytes of visible ASCII, of
	// which no other secret's is a part.
	Placeholder string
	// Value returns the value, visible ASCII too. It is called when the first
	// request carries the placeholder, and not again after it has succeeded; its
	// error is not shown to programs.
	Value func(ctx context.Context) (string, error)
	// Hosts are where the value goes: into headers of requests that a rule covers,
	// over plain HTTP only where the rule says http://.
	Hosts []hosts.Rule
	// Body has it go into bodies of requests too, those up to 1 MiB: written as JSON
	// or a form has it where the request says that it is one, else as it is.
	Body bool
}

// Event is one thing that a program asked for.
type Event struct {
	Time time.Time
	// Host is in lower case, or what the program sent where that is no name,
	// shortened; empty where it did not come to name one.
	Host string
	// Port is 0 where the program sent none.
	Port int
	// Refused is empty where it was allowed.
	Refused Reason
	// Request is a method and a path, without query, where the proxy sees them:
	// over plain HTTP and for hosts of secrets.
	Request string
}

// Usage is what a run has asked for so far.
type Usage struct {
	// Hosts are sorted by name and port, at most [MaxHosts]. Requests for those
	// beyond them are in Omitted.
	Hosts   []HostUsage
	Omitted int
	// Secrets are the names of those whose value was sent, sorted.
	Secrets []string
}

// HostUsage is what became of one host and port.
type HostUsage struct {
	// Host and Port are as in [Event].
	Host string
	Port int
	// Requests were let through: HTTP requests where the proxy sees them, else
	// connections. Refused were not, the last of them for Reason.
	Requests, Refused int
	Reason            Reason
	// Wanted is the rule that would have allowed it; zero where none would.
	Wanted hosts.Rule
	// Bytes are those sent and received.
	Bytes int64
}

// MaxHosts is how many hosts and ports [Usage] has.
const MaxHosts = 100
