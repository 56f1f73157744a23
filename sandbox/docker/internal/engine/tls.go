package engine

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// tlsSettings are what Docker's settings say of TLS. They are for connections
// over TCP only.
type tlsSettings struct {
	asked      bool
	unverified bool // anybody's certificate is taken
	// dir holds the engine's authority (ca.pem), and this client's certificate
	// (cert.pem, key.pem). What is not there is not used, unless complete says
	// that all must be there. It may be empty.
	dir      string
	complete bool
}

// environmentTLS reads the variables of Docker's command and of its client
// library, which differ: with DOCKER_TLS_VERIFY alone, the command takes the
// files beside its settings, and the library no TLS at all; with
// DOCKER_CERT_PATH alone, the library takes TLS with anybody, and the command
// none.
func environmentTLS() tlsSettings {
	dir, verify := os.Getenv("DOCKER_CERT_PATH"), os.Getenv("DOCKER_TLS_VERIFY") != ""
	switch {
	case dir == "" && !verify:
		return tlsSettings{}
	case dir == "":
		dir = configDir()
	}
	return tlsSettings{asked: true, unverified: !verify, dir: dir, complete: true}
}

// config gives the configuration of a client, or nil where TLS is not asked
// for. Without ca.pem, it trusts the authorities that the system trusts.
func (s tlsSettings) config() (*tls.Config, error) {
	if !s.asked {
		return nil, nil
	}
	// It is not [http.Transport] that uses it, so it has to name the protocol.
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.unverified, NextProtos: []string{"http/1.1"}}
	if s.dir == "" {
		return config, nil
	}
	authority, err := s.read("ca.pem")
	if err != nil {
		return nil, err
	}
	if authority != nil {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(authority) {
			return nil, errors.New("ca.pem has no certificate")
		}
	}
	certificate, certificateErr := s.read("cert.pem")
	key, keyErr := s.read("key.pem")
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

// read gives a file of the directory, or nil where it need not be there.
func (s tlsSettings) read(name string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(s.dir, name))
	if errors.Is(err, fs.ErrNotExist) && !s.complete {
		return nil, nil
	}
	return content, err
}
