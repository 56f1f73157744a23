//go:build unix

package egress_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
)

// TestClients: programs that others wrote find the proxy by the variables, trust it
// where TLS ends, and show what it refuses.
func TestClients(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	s, origin := withSecrets(t, false, func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("Authorization")
		_, _ = w.Write([]byte("hello"))
	})
	bundle := filepath.Join(t.TempDir(), "bundle.pem")
	if err := os.WriteFile(bundle, s.proxy.CertificatePEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := os.Environ()
	for name, value := range egress.Variables(bundle) {
		environ = append(environ, name+"="+strings.ReplaceAll(value, sandbox.ProxyAddress, s.address))
	}
	environ = append(environ, "KEY="+keyHolder, "ORIGIN="+origin, "AUTHORITY="+strings.TrimPrefix(origin, "https://"), "PROXY="+s.address)
	for _, test := range []struct{ name, granted, refused string }{
		{
			"curl",
			`curl -sS -H "Authorization: Bearer $KEY" "$ORIGIN"`,
			`curl -sS -v https://other.test`,
		},
		{
			"python3",
			`python3 -c 'import os, urllib.request as u; print(u.urlopen(u.Request(os.environ["ORIGIN"], headers={"Authorization": "Bearer " + os.environ["KEY"]})).read().decode())'`,
			`python3 -c 'import urllib.request as u; u.urlopen("https://other.test")'`,
		},
		{
			"openssl", // as strict as Python's newest are by default
			`printf 'GET / HTTP/1.0\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n' "$AUTHORITY" "$KEY" | openssl s_client -quiet -ign_eof -proxy "$PROXY" -connect "$AUTHORITY" -servername api.test -verify_hostname api.test -x509_strict -verify_return_error -CAfile "$SSL_CERT_FILE"`,
			`openssl s_client -proxy "$PROXY" -connect other.test:443 </dev/null`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := exec.LookPath(test.name); err != nil && test.name != "python3" {
				t.Skip(err)
			} else if err != nil {
				testenv.Need(t, "python", err)
			}
			run := func(script string) (string, error) {
				command := exec.CommandContext(t.Context(), "sh", "-c", script)
				command.Env = environ
				output, err := command.CombinedOutput()
				return string(output), err
			}
			if output, err := run(test.granted); err != nil || !strings.Contains(output, "hello") {
				t.Fatalf("%v\n%s", err, output)
			}
			if sent := <-got; sent != "Bearer "+key {
				t.Errorf("the server got %q", sent)
			}
			output, _ := run(test.refused)
			if want := "the user grants it with: skills-mcp grant weather --host other.test"; !strings.Contains(output, want) {
				t.Errorf("what is refused shows nothing of %q:\n%s", want, output)
			}
		})
	}
}
