package egress

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// bundleFiles are where systems have the certificates that they trust.
var bundleFiles = []string{
	"/etc/ssl/certs/ca-certificates.crt",                // Debian, Arch, Alpine
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // Fedora, RHEL
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem", // openSUSE
	"/etc/ssl/cert.pem",      // macOS, BSD
}

// Bundle returns certificates in PEM: those that the system trusts, which
// SSL_CERT_FILE of Options.Environ may name, and the proxy's own. Programs that
// are to speak to hosts of secrets and to others need both.
func (p *Proxy) Bundle() ([]byte, error) {
	files := bundleFiles
	for _, entry := range p.options.Environ {
		if file, found := strings.CutPrefix(entry, "SSL_CERT_FILE="); found && file != "" {
			files = []string{file}
		}
	}
	for _, file := range files {
		system, err := os.ReadFile(file)
		switch {
		case err == nil:
			return slices.Concat(bytes.TrimRight(system, "\n"), []byte("\n"), p.CertificatePEM()), nil
		case !errors.Is(err, os.ErrNotExist):
			return nil, fmt.Errorf("read the certificates that this system trusts: %w", err)
		}
	}
	return nil, errors.New("the certificates that this system trusts were not found: install ca-certificates, or name their file in SSL_CERT_FILE")
}
