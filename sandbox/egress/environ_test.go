package egress_test

import (
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/config"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
)

// TestVariables: no variable has a form on which clients fail, such as
// "socks5://", and only runs with secrets trust another authority.
func TestVariables(t *testing.T) {
	t.Parallel()
	plain, trusting := egress.Variables(""), egress.Variables("/bundle.pem")
	for name, value := range plain {
		upper := strings.ToUpper(name)
		if strings.HasSuffix(upper, "_PROXY") && upper != "NO_PROXY" && upper != "NODE_USE_ENV_PROXY" && value != "http://"+sandbox.ProxyAddress {
			t.Errorf("%s = %q", name, value)
		}
		if trusting[name] != value {
			t.Errorf("%s = %q with secrets, %q without", name, trusting[name], value)
		}
		delete(trusting, name)
	}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy", "JAVA_TOOL_OPTIONS"} {
		if plain[name] == "" {
			t.Errorf("%s is not set", name)
		}
	}
	if len(trusting) == 0 || trusting["SSL_CERT_FILE"] == "" {
		t.Errorf("variables for secrets alone: %v", trusting)
	}
	for name, value := range trusting {
		if value != "/bundle.pem" {
			t.Errorf("%s = %q", name, value)
		}
	}
}

// TestVariablesHoldNoSecret: no secret can take the place of what leads programs to
// the proxy.
func TestVariablesHoldNoSecret(t *testing.T) {
	t.Parallel()
	for name := range egress.Variables("/bundle.pem") {
		if err := config.CheckVariable(name); err == nil {
			t.Errorf("%s can hold a secret", name)
		}
	}
}

func TestBundle(t *testing.T) {
	t.Parallel()
	other, err := egress.New(egress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "system.pem")
	if err := os.WriteFile(file, other.CertificatePEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	proxy, err := egress.New(egress.Options{Environ: []string{"SSL_CERT_FILE=" + file}})
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := proxy.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	if want := string(other.CertificatePEM()) + string(proxy.CertificatePEM()); string(bundle) != want {
		t.Errorf("Bundle =\n%s\nwant\n%s", bundle, want)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(proxy.CertificatePEM()) || string(other.CertificatePEM()) == string(proxy.CertificatePEM()) {
		t.Error("the authority is not one of this proxy alone")
	}
	proxy, err = egress.New(egress.Options{Environ: []string{"SSL_CERT_FILE=" + file + ".none"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := proxy.Bundle(); err == nil || strings.Contains(err.Error(), "%!") {
		t.Errorf("Bundle without certificates of the system: %v", err)
	}
}
