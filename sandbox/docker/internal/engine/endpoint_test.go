package engine

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/enginetest"
)

// Hex of the SHA-256 of "other", as Docker's command names the directory.
const otherContext = "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa"

// settle makes settings of Docker's command, by file name, the only ones.
func settle(t *testing.T, files map[string]string) {
	t.Helper()
	dir, tree := t.TempDir(), make(fstest.MapFS)
	for name, content := range files {
		tree[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
	}
	if err := os.CopyFS(dir, tree); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DOCKER_CONFIG", dir)
	t.Setenv("DOCKER_HOST", "")
	t.Setenv("DOCKER_CONTEXT", "")
	t.Setenv("DOCKER_CERT_PATH", "")
	t.Setenv("DOCKER_TLS_VERIFY", "")
}

func TestEndpointsOfContexts(t *testing.T) {
	meta := "contexts/meta/" + otherContext + "/meta.json"
	const other = `{"Name": "other", "Endpoints": {"docker": {"Host": "tcp://192.0.2.1:2376", "SkipTLSVerify": false}}}`
	current := map[string]string{"config.json": `{"currentContext": "other"}`, meta: other}

	settle(t, current)
	if found, err := findEndpoints(""); err != nil || len(found) != 1 || found[0] != (endpoint{host: "tcp://192.0.2.1:2376"}) {
		t.Errorf("the current context gives %+v, %v", found, err)
	}
	t.Setenv("DOCKER_CONTEXT", "missing")
	if _, err := findEndpoints(""); err == nil || !strings.Contains(err.Error(), `"missing"`) {
		t.Errorf("a context that is not there gives %v", err)
	}
	t.Setenv("DOCKER_HOST", "unix:///x")
	if found, err := findEndpoints(""); err != nil || len(found) != 1 || found[0] != (endpoint{host: "unix:///x"}) {
		t.Errorf("DOCKER_HOST gives %+v, %v", found, err)
	}
	if found, err := findEndpoints("unix:///y"); err != nil || len(found) != 1 || found[0].host != "unix:///y" {
		t.Errorf("an address gives %+v, %v", found, err)
	}

	for name, content := range map[string]string{"no JSON": "{", "no endpoint": `{"Endpoints": {"kubernetes": {"Host": "x"}}}`} {
		settle(t, map[string]string{"config.json": `{"currentContext": "other"}`, meta: content})
		if _, err := findEndpoints(""); err == nil || !strings.Contains(err.Error(), `"other"`) {
			t.Errorf("%s gives %v", name, err)
		}
	}
}

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
		"not known to the engine":        {host, "ca.pem", false, ErrNoEngine},
		"of an authority nobody knows":   {host, "cert.pem key.pem", false, ErrNoEngine},
		"a certificate without its key":  {host, "ca.pem cert.pem", false, ErrNoEngine},
		"no TLS where it is needed":      {host, "", false, ErrNoEngine},
		"no TLS, elsewhere":              {elsewhere, "", false, ErrInsecure},
		"not verified, elsewhere":        {elsewhere, all, true, ErrInsecure},
		"nothing to verify, elsewhere":   {elsewhere, "", true, ErrInsecure},
		"not verified, elsewhere, https": {"https" + strings.TrimPrefix(elsewhere, "tcp"), "", true, ErrInsecure},
	} {
		files := map[string]string{
			"config.json": `{"currentContext": "other"}`,
			"contexts/meta/" + otherContext + "/meta.json": fmt.Sprintf(`{"Endpoints": {"docker": {"Host": %q, "SkipTLSVerify": %t}}}`, c.host, c.skip),
		}
		for _, file := range strings.Fields(c.files) {
			content, err := os.ReadFile(filepath.Join(certificates, file))
			if err != nil {
				t.Fatal(err)
			}
			files["contexts/tls/"+otherContext+"/docker/"+file] = string(content)
		}
		settle(t, files)
		t.Setenv("DOCKER_TLS_VERIFY", "1") // which is not for contexts
		e, err := Dial(t.Context(), "", false)
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

func TestEndpointsAreSockets(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are named pipes on Windows")
	}
	settle(t, map[string]string{"config.json": `{"currentContext": "default"}`})
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	if err := os.Mkdir(filepath.Join(dir, "podman"), 0o755); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range []string{"docker.sock", "podman/podman.sock"} {
		listener, err := net.Listen("unix", filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		want = append(want, "unix://"+filepath.Join(dir, name))
	}
	found, err := findEndpoints("")
	if err != nil {
		t.Fatal(err)
	}
	var hosts []string
	for _, p := range found {
		if strings.Contains(p.host, dir) {
			hosts = append(hosts, p.host)
		}
	}
	if strings.Join(hosts, " ") != strings.Join(want, " ") {
		t.Errorf("found are %v, want %v among them", found, want)
	}
}
