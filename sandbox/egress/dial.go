package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/sandbox/egress/internal/address"
)

const (
	// dialTimeout is for looking a name up and connecting to it, and attemptTimeout
	// for one of its addresses.
	dialTimeout    = 20 * time.Second
	attemptTimeout = 5 * time.Second
	maxAddresses   = 8
)

// dialer connects to what was granted by name, and to nothing else.
type dialer struct {
	resolver Resolver
	grant    Grant
	upstream *upstream
}

// private returns the addresses besides public ones that a host may have: what the
// user answered about a name says nothing of those.
func (d *dialer) private(wanted hosts.Rule) []netip.Prefix {
	if hosts.Allow(d.grant.Rules, wanted) {
		return d.grant.AllowPrivate
	}
	return nil
}

// dial connects to the host of a rule that was granted. A refusal is a *refusal.
//
// Where the user has a proxy, that looks the name up and nobody here judges the
// address; what is private, and granted as such, never goes there.
func (d *dialer) dial(ctx context.Context, wanted hosts.Rule) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if via := d.via(ctx, wanted); via != nil {
		return via.connect(ctx, wanted)
	}
	addresses, err := d.lookup(ctx, wanted)
	if err != nil {
		return nil, err
	}
	return connect(ctx, addresses, wanted)
}

// via returns the user's proxy for a host, or nil.
func (d *dialer) via(ctx context.Context, wanted hosts.Rule) *hop {
	via := d.upstream.hop(wanted)
	private := d.private(wanted)
	if via == nil || len(private) == 0 {
		return via
	}
	addresses, err := d.resolver.LookupNetIP(ctx, "ip", wanted.Name())
	if err != nil {
		return via
	}
	own, err := address.Own()
	if err != nil {
		return via
	}
	for _, each := range addresses {
		if address.Within(private, each.Unmap()) && address.ReachOf(each, own, nil) != address.Public {
			return nil
		}
	}
	return via
}

// lookup returns the addresses of a host that may be connected to.
func (d *dialer) lookup(ctx context.Context, wanted hosts.Rule) ([]netip.Addr, error) {
	found, err := d.resolver.LookupNetIP(ctx, "ip", wanted.Name())
	if err != nil || len(found) == 0 {
		return nil, &refusal{host: wanted.Name(), port: wanted.Port(), reason: Unreachable, detail: "the name was not found", cause: err}
	}
	own, err := address.Own()
	if err != nil {
		return nil, fmt.Errorf("list the addresses of this machine: %w", err)
	}
	usable, private := []netip.Addr(nil), d.private(wanted)
	for _, each := range found {
		switch address.ReachOf(each, own, private) {
		case address.Public:
			usable = append(usable, each)
		case address.Forbidden:
			return nil, &refusal{host: wanted.Name(), port: wanted.Port(), reason: ForbiddenHost,
				detail: "the name leads to an address that no program may reach"}
		}
	}
	if len(usable) == 0 {
		return nil, &refusal{host: wanted.Name(), port: wanted.Port(), reason: PrivateHost,
			detail: "the name leads to an address of this machine or of a private network, which allowPrivate does not name"}
	}
	return usable[:min(len(usable), maxAddresses)], nil
}

// connect tries addresses in turn, which were judged, so that no other lookup
// comes between.
func connect(ctx context.Context, addresses []netip.Addr, wanted hosts.Rule) (net.Conn, error) {
	direct := net.Dialer{Timeout: attemptTimeout}
	var failed []error
	for _, address := range addresses {
		target := netip.AddrPortFrom(address, uint16(wanted.Port()))
		connected, err := direct.DialContext(ctx, "tcp", target.String())
		if err == nil {
			return connected, nil
		}
		failed = append(failed, err)
	}
	return nil, &refusal{host: wanted.Name(), port: wanted.Port(), reason: Unreachable, detail: "nothing answers there", cause: errors.Join(failed...)}
}
