package docker

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
)

// Hex of the SHA-256 of "other", as Docker's command names the directory.
const otherContext = "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa"

// settle makes settings of Docker's command, by file name, the only ones.
func settle(t *testing.T, files map[string]string) string {
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
	return dir
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
	if found, err := findEndpoints(""); err != nil || len(found) != 1 || !found[0].fromEnvironment {
		t.Errorf("DOCKER_HOST gives %+v, %v", found, err)
	}
	if found, err := findEndpoints("unix:///y"); err != nil || len(found) != 1 || found[0].host != "unix:///y" {
		t.Errorf("an address gives %+v, %v", found, err)
	}

	current["contexts/tls/"+otherContext+"/docker/cert.pem"] = ""
	dir := settle(t, current)
	if found, err := findEndpoints(""); err != nil || found[0].tls != filepath.Join(dir, "contexts", "tls", otherContext, "docker") {
		t.Errorf("a context with certificates gives %+v, %v", found, err)
	}
	for name, content := range map[string]string{"no JSON": "{", "no endpoint": `{"Endpoints": {"kubernetes": {"Host": "x"}}}`} {
		settle(t, map[string]string{"config.json": `{"currentContext": "other"}`, meta: content})
		if _, err := findEndpoints(""); err == nil || !strings.Contains(err.Error(), `"other"`) {
			t.Errorf("%s gives %v", name, err)
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
