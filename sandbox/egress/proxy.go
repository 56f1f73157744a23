package egress

import (
	"log/slog"
	"net"
)

// Proxy makes sessions. Its methods may be called from many goroutines.
type Proxy struct {
	options   Options
	authority *authority
	upstream  *upstream
}

// New returns a proxy with an authority of its own. An error says what of
// Options.Environ names no proxy that can be used.
func New(options Options) (*Proxy, error) {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.Resolver == nil {
		options.Resolver = net.DefaultResolver
	}
	upstream, err := newUpstream(options.Environ, options.RootCAs)
	if err != nil {
		return nil, err
	}
	authority, err := newAuthority()
	if err != nil {
		return nil, err
	}
	return &Proxy{options: options, authority: authority, upstream: upstream}, nil
}

// CertificatePEM returns the certificate of the proxy's own authority, without
// the system's: see [Proxy.Bundle].
func (p *Proxy) CertificatePEM() []byte { return p.authority.pem() }
