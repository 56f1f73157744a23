package enginetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority issues certificates, to servers as to clients.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// NewAuthority returns one that is not trusted yet.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{key: newKey(t)}
	template := &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.certificate = a.sign(t, template, template, a.key)
	return a
}

// Server returns the settings of a server at an address. As those of Docker's, it
// answers only who has a certificate of the same authority.
func (a *Authority) Server(t testing.TB, ip net.IP) *tls.Config {
	t.Helper()
	clients := x509.NewCertPool()
	clients.AddCert(a.certificate)
	return &tls.Config{
		Certificates: []tls.Certificate{a.issue(t, x509.ExtKeyUsageServerAuth, ip)},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    clients,
	}
}

// Client returns a directory with what a client needs, as DOCKER_CERT_PATH has
// it.
func (a *Authority) Client(t testing.TB) string {
	t.Helper()
	issued := a.issue(t, x509.ExtKeyUsageClientAuth)
	key, err := x509.MarshalPKCS8PrivateKey(issued.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, block := range map[string]pem.Block{
		"ca.pem":   {Type: "CERTIFICATE", Bytes: a.certificate.Raw},
		"cert.pem": {Type: "CERTIFICATE", Bytes: issued.Certificate[0]},
		"key.pem":  {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (a *Authority) issue(t testing.TB, usage x509.ExtKeyUsage, ips ...net.IP) tls.Certificate {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{usage}, IPAddresses: ips}
	return tls.Certificate{Certificate: [][]byte{a.sign(t, template, a.certificate, key).Raw}, PrivateKey: key}
}

func (a *Authority) sign(t testing.TB, template, parent *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.Subject = pkix.Name{CommonName: rand.Text()}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
