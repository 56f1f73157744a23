package engine

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/enginetest"
)

func TestEndpointsOfContexts(t *testing.T) {
	meta := "contexts/meta/" + enginetest.OtherContext + "/meta.json"
	const other = `{"Name": "other", "Endpoints": {"docker": {"Host": "tcp://192.0.2.1:2376", "SkipTLSVerify": false}}}`
	current := map[string]string{"config.json": `{"currentContext": "other"}`, meta: other}

	enginetest.Settings(t, current)
	if found, err := findEndpoints(""); err != nil || len(found) != 1 || found[0] != (Endpoint{Host: "tcp://192.0.2.1:2376"}) {
		t.Errorf("the current context gives %+v, %v", found, err)
	}
	t.Setenv("DOCKER_CONTEXT", "missing")
	if _, err := findEndpoints(""); err == nil || !strings.Contains(err.Error(), `"missing"`) {
		t.Errorf("a context that is not there gives %v", err)
	}
	t.Setenv("DOCKER_HOST", "unix:///x")
	if found, err := findEndpoints(""); err != nil || len(found) != 1 || found[0] != (Endpoint{Host: "unix:///x"}) {
		t.Errorf("DOCKER_HOST gives %+v, %v", found, err)
	}
	if found, err := findEndpoints("unix:///y"); err != nil || len(found) != 1 || found[0].Host != "unix:///y" {
		t.Errorf("an address gives %+v, %v", found, err)
	}

	for name, content := range map[string]string{"no JSON": "{", "no endpoint": `{"Endpoints": {"kubernetes": {"Host": "x"}}}`} {
		enginetest.Settings(t, map[string]string{"config.json": `{"currentContext": "other"}`, meta: content})
		if _, err := findEndpoints(""); err == nil || !strings.Contains(err.Error(), `"other"`) {
			t.Errorf("%s gives %v", name, err)
		}
	}
}

func TestEndpointsAreSockets(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are named pipes on Windows")
	}
	enginetest.Settings(t, map[string]string{"config.json": `{"currentContext": "default"}`})
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
		if strings.Contains(p.Host, dir) {
			hosts = append(hosts, p.Host)
		}
	}
	if strings.Join(hosts, " ") != strings.Join(want, " ") {
		t.Errorf("found are %v, want %v among them", found, want)
	}
}
