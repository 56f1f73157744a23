package remote

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/enginetest"
)

// What a context says of TLS is what its connections have.
func TestTLSOfContexts(t *testing.T) {
	host, certificates := enginetest.ServeTLS(t)
	elsewhere := "tcp://192.0.2.1:2376"
	const all = "ca.pem cert.pem key.pem"
	for name, c := range map[string]struct {
		host, files string
		skip        bool
		want        error
	}{
		"as Docker makes it":             {host, all, false, nil},
		"not verified, on loopback":      {host, "cert.pem key.pem", true, nil},
		"not known to the engine":        {host, "ca.pem", false, engine.ErrNoEngine},
		"of an authority nobody knows":   {host, "cert.pem key.pem", false, engine.ErrNoEngine},
		"a certificate without its key":  {host, "ca.pem cert.pem", false, engine.ErrNoEngine},
		"no TLS where it is needed":      {host, "", false, engine.ErrNoEngine},
		"no TLS, elsewhere":              {elsewhere, "", false, engine.ErrInsecure},
		"not verified, elsewhere":        {elsewhere, all, true, engine.ErrInsecure},
		"nothing to verify, elsewhere":   {elsewhere, "", true, engine.ErrInsecure},
		"not verified, elsewhere, https": {"https" + strings.TrimPrefix(elsewhere, "tcp"), "", true, engine.ErrInsecure},
	} {
		files := map[string]string{
			"config.json": `{"currentContext": "other"}`,
			"contexts/meta/" + enginetest.OtherContext + "/meta.json": fmt.Sprintf(`{"Endpoints": {"docker": {"Host": %q, "SkipTLSVerify": %t}}}`, c.host, c.skip),
		}
		for _, file := range strings.Fields(c.files) {
			content, err := os.ReadFile(filepath.Join(certificates, file))
			if err != nil {
				t.Fatal(err)
			}
			files["contexts/tls/"+enginetest.OtherContext+"/docker/"+file] = string(content)
		}
		enginetest.Settings(t, files)
		t.Setenv("DOCKER_TLS_VERIFY", "1") // which is not for contexts
		e, err := engine.Dial(t.Context(), "", Access{}.Route)
		if err == nil {
			err = e.Close()
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: dial gives %v, want %v", name, err, c.want)
		}
	}
}

func TestTCPAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"tcp://host":            "host:2375 host:2376",
		"tcp://host/":           "host:2375 host:2376",
		"tcp://[::1]/a/b":       "[::1]:2375 [::1]:2376",
		"tcp://:1234":           "localhost:1234 localhost:1234",
		"http://host":           "host:80 host:80",
		"https://host:1":        "host:1 host:1",
		"https://host":          "host:443 host:443",
		"tcp://me@host":         "",
		"tcp://me:secret@host":  "",
		"tcp://host?a":          "",
		"tcp://host#a":          "",
		"tcp://host:port":       "",
		"tcp://ho st":           "",
		"tcp://secret%zz@host:": "",
	} {
		var got string
		parsed, err := parseTCP(address)
		if err == nil {
			got = net.JoinHostPort(parsed.Hostname(), portOf(parsed, false)) + " " + net.JoinHostPort(parsed.Hostname(), portOf(parsed, true))
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s gives away the password: %v", address, err)
		}
		if got != want {
			t.Errorf("%s gives %q, %v, want %q", address, got, err, want)
		}
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.255.1.2": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "localhost.example": false, "127.0.0.1.example": false, "127.1": false, "0.0.0.0": false, "::": false, "128.0.0.1": false, "2130706433": false, "::2": false, "fe80::1%lo": false,
	} {
		if got := isLoopback(host); got != want {
			t.Errorf("%q is loopback: %t", host, got)
		}
	}
}
