package remote

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
)

// tlsConfig returns the configuration of a client, or nil where TLS is not asked
// for. Without ca.pem, it trusts the authorities that the system trusts.
func tlsConfig(s engine.TLS) (*tls.Config, error) {
	if !s.Asked {
		return nil, nil
	}
	// It is not [http.Transport] that uses it, so it has to name the protocol.
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.Unverified, NextProtos: []string{"http/1.1"}}
	if s.Dir == "" {
		return config, nil
	}
	authority, err := readFile(s, "ca.pem")
	if err != nil {
		return nil, err
	}
	if authority != nil {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(authority) {
			return nil, errors.New("ca.pem has no certificate")
		}
	}
	certificate, certificateErr := readFile(s, "cert.pem")
	key, keyErr := readFile(s, "key.pem")
	if err := errors.Join(certificateErr, keyErr); err != nil {
		return nil, err
	}
	if certificate == nil && key == nil {
		return config, nil
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("cert.pem and key.pem: %w", err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// readFile returns a file of the directory, or nil where it need not be there.
func readFile(s engine.TLS, name string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(s.Dir, name))
	if errors.Is(err, fs.ErrNotExist) && !s.Complete {
		return nil, nil
	}
	return content, err
}
