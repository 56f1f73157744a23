package egress

import "log/slog"

// Proxy makes sessions. Its methods may be called from many goroutines.
type Proxy struct {
	options   Options
	authority *authority
}

// New returns a proxy with an authority of its own. An error says what of
// Options.Environ names no proxy that can be used.
func New(options Options) (*Proxy, error) {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	authority, err := newAuthority()
	if err != nil {
		return nil, err
	}
	return &Proxy{options: options, authority: authority}, nil
}

// CertificatePEM returns the certificate of the proxy's own authority, without
// the system's: see [Proxy.Bundle].
func (p *Proxy) CertificatePEM() []byte { return p.authority.pem() }
