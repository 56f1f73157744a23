package egress

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"sync"
	"time"
)

const (
	authorityLife = 365 * 24 * time.Hour
	leafLife      = 24 * time.Hour
	// leafSpare is how long a certificate lives on that is still used.
	leafSpare = time.Hour
	// clockSkew is how far a program's clock may be behind.
	clockSkew = time.Hour
	maxLeaves = 256
)

// authority makes certificates for hosts where TLS ends at the proxy. It lives as
// long as the process; nobody trusts it but programs that are told to.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	leafKey     *ecdsa.PrivateKey

	mu     sync.Mutex
	leaves map[string]*tls.Certificate
}

func newAuthority() (*authority, error) {
	a := &authority{leaves: map[string]*tls.Certificate{}}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	if a.leafKey, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	template := newTemplate("skills-mcp, this process only", authorityLife)
	template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
	template.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	a.certificate, err = x509.ParseCertificate(der)
	return a, err
}

// newTemplate returns what all our certificates have in common.
func newTemplate(name string, life time.Duration) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial.Add(serial, big.NewInt(1)),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-clockSkew),
		NotAfter:     now.Add(life),
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

// leaf returns a certificate for one name and no other.
func (a *authority) leaf(name string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.leaves[name]; known != nil && time.Until(known.Leaf.NotAfter) > leafSpare {
		return known, nil
	}
	made, err := a.sign(name)
	if err != nil {
		return nil, err
	}
	if len(a.leaves) >= maxLeaves {
		clear(a.leaves)
	}
	a.leaves[name] = made
	return made, nil
}

func (a *authority) sign(name string) (*tls.Certificate, error) {
	template := newTemplate("", leafLife)
	template.Subject = pkix.Name{Organization: []string{"skills-mcp"}}
	template.DNSNames, template.KeyUsage = []string{name}, x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, a.leafKey.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read a certificate: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.leafKey, Leaf: parsed}, nil
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}
