//go:build amd64 || arm64

package main

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
)

// packageIndex is behind the proxy of the user, who reaches nothing else.
type packageIndex map[string][]byte // wheels by their names

// add adds a wheel of one module.
func (i packageIndex) add(t *testing.T, name, version, module, metadata string) {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	info := fmt.Sprintf("%s-%s.dist-info/", name, version)
	for file, text := range map[string]string{
		name + ".py":      module,
		info + "METADATA": fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n%s\n", name, version, metadata),
		info + "WHEEL":    "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		info + "RECORD":   "",
	} {
		entry, err := archive.Create(file)
		if err == nil {
			_, err = io.WriteString(entry, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	i[fmt.Sprintf("%s-%s-py3-none-any.whl", name, version)] = out.Bytes()
}

// ServeHTTP answers as the proxy of the user, which leads to index.test alone, and
// as that.
func (i packageIndex) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Host == "index.test" && strings.HasPrefix(r.URL.Path, "/simple/"):
		w.Header().Set("Content-Type", "text/html")
		for name, wheel := range i {
			if strings.HasPrefix(name, strings.Trim(strings.TrimPrefix(r.URL.Path, "/simple/"), "/")+"-") {
				fmt.Fprintf(w, "<a href=\"/files/%s#sha256=%x\">%[1]s</a>\n", name, sha256.Sum256(wheel))
			}
		}
	case r.Host == "index.test" && i[filepath.Base(r.URL.Path)] != nil:
		_, _ = w.Write(i[filepath.Base(r.URL.Path)])
	default:
		http.Error(w, "no", http.StatusForbidden)
	}
}

// skillWithPackages returns the root of a skill "report", and has everything else
// be in directories of the test.
func skillWithPackages(t *testing.T) (root string) {
	t.Helper()
	testenv.Slow(t, "preparing packages")
	own, err := filepath.Abs("../../integration/packages/.venv/bin")
	if err == nil {
		t.Setenv("PATH", own+":"+os.Getenv("PATH"))
	}
	if environments.FindUV() == "" {
		testenv.Need(t, "python", errors.New("there is no program uv"))
	}
	// Programs run as another user, and have to find the way.
	base, err := os.MkdirTemp("", "prepare-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "configs", "XDG_CACHE_HOME": "cache", "HOME": "home"} {
		t.Setenv(name, filepath.Join(base, dir))
	}
	t.Setenv("SKILLS_MCP_CONFIG", "")
	root = filepath.Join(base, "skills")
	testfiles.Fill(t, filepath.Join(root, "report"), map[string]string{
		"SKILL.md":          "---\nname: report\ndescription: Reports.\ncompatibility: Needs an account.\n---\n",
		"requirements.txt":  "greeting>=1\n",
		"scripts/report.py": "import os, greeting\nKEY = os.environ['REPORTS_API_KEY']\nURL = 'https://api.reports-service.net/v1'\n",
	})
	index := packageIndex{}
	index.add(t, "greeting", "1.2", "import words\nprint('greeting', words.WORD)\n", "Requires-Dist: words>=1")
	index.add(t, "words", "1.0", "WORD = 'hello'\n", "")
	server := httptest.NewServer(index)
	t.Cleanup(server.Close)
	t.Setenv("HTTP_PROXY", server.URL)
	t.Setenv("HTTPS_PROXY", server.URL)
	t.Setenv("NO_PROXY", "localhost")
	t.Setenv("UV_DEFAULT_INDEX", "http://someone:hunter2@index.test/simple")
	return root
}

// prepared runs the command at a terminal, unless the sandbox cannot do it here.
func prepared(t *testing.T, root, typed string, args ...string) (int, string) {
	t.Helper()
	code, shown := atTerminal(t, typed, append([]string{"prepare", "--sandbox=local", "--root", root}, args...)...)
	if strings.Contains(shown, "cannot be limited to the hosts") || strings.Contains(shown, "sandbox unavailable") {
		t.Skipf("needs a sandbox that can be limited to hosts: %s", shown)
	}
	if strings.Contains(shown, "hunter2") {
		t.Errorf("it shows the password of the index: %s", shown)
	}
	return code, shown
}

// What would be installed is shown with its versions and where it comes from, and
// nothing is done before the user agrees. What a program has is not pruned.
func TestPrepareAsks(t *testing.T) {
	root := skillWithPackages(t)
	code, shown := prepared(t, root, "n\n", "report")
	for _, want := range []string{
		"asked for by requirements.txt:1", "compatibility, as its author states it: Needs an account.",
		"hosts that it is not granted: api.reports-service.net", "variables that it is not granted: REPORTS_API_KEY",
		"skills-mcp grant report --secret VARIABLE --for HOST", "report: 2 packages from http://index.test/simple\r\n",
		"python  greeting 1.2", "python  words 1.0", "grant it to report? [y/N]", "Nothing was changed.",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("it does not show %q:\n%s", want, shown)
		}
	}
	if code != exit.OK || strings.Contains(shown, "Install the Python packages") {
		t.Errorf("declined, it exits with %d:\n%s", code, shown)
	}
	if _, shown := prepared(t, root, "", "--list"); strings.Contains(shown, "prepared: ") {
		t.Errorf("it was prepared all the same:\n%s", shown)
	}
	if code, shown := prepared(t, root, "y\n", "report"); code != exit.OK || !strings.Contains(shown, "report: prepared 2 packages") {
		t.Fatalf("it exits with %d:\n%s", code, shown)
	}

	marker := fmt.Sprintf("marker-%d", time.Now().UnixNano())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ctx, []string{"call", "--sandbox=local", "--project-access=off", "--root", root, "exec", "name=report", "command=sleep 50; : " + marker},
			strings.NewReader(""), io.Discard, io.Discard)
	}()
	for deadline := time.Now().Add(time.Minute); !runs(t, marker); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the program does not start")
		}
	}
	_, shown = atTerminal(t, "", "prune", "--older", "0s")
	if !strings.Contains(shown, "left 2 packages") || !strings.Contains(shown, "which a program has now") || !strings.Contains(shown, "0 environments removed") {
		t.Errorf("while a program has it: %s", shown)
	}
	cancel()
	<-ended
	if _, shown := atTerminal(t, "", "prune", "--older", "0s"); !strings.Contains(shown, "1 environment removed") {
		t.Errorf("afterwards: %s", shown)
	}
}

// runs reports whether there is a process with a text in its command line.
func runs(t *testing.T, text string) bool {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if line, _ := os.ReadFile(name); strings.Contains(string(line), text) { // or it is gone
			return true
		}
	}
	return false
}

// What keeps an index from being asked is said, with what to do about it.
func TestPrepareWithoutIndex(t *testing.T) {
	root := skillWithPackages(t)
	closed := httptest.NewServer(nil)
	closed.Close()
	silent, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	t.Setenv("UV_HTTP_TIMEOUT", "1")
	tests := []struct{ name, index, proxy, want string }{
		{"nothing answers", strings.Replace(closed.URL, "127.0.0.1", "localhost", 1), "", "nothing answers there: look whether your uv"},
		{"it keeps silent", "http://" + strings.Replace(silent.Addr().String(), "127.0.0.1", "localhost", 1), "", "as long as UV_HTTP_TIMEOUT says"},
		{"an address", "http://127.0.0.1:1/simple", "", "the host of a package index"},
		{"the proxy refuses it", "http://other.test/simple", "", "403 Forbidden"},
		{"the proxy is not there", "http://index.test/simple", closed.URL, "HTTPS_PROXY"},
	}
	if !testenv.All(t) {
		tests = tests[:3] // the others show again what a refusal looks like
	}
	for _, test := range tests {
		t.Setenv("UV_DEFAULT_INDEX", test.index)
		if test.proxy != "" {
			t.Setenv("HTTP_PROXY", test.proxy)
		}
		code, shown := prepared(t, root, "", "--yes", "report")
		if code != exit.Failure || !strings.Contains(shown, test.want) {
			t.Errorf("%s: it exits with %d, and shows no %q:\n%s", test.name, code, test.want, shown)
		}
	}
}

// Where containers have no npm, it is said before anybody tries, and by who tries,
// with what to do about it.
func TestPrepareWithoutNpm(t *testing.T) {
	root := skillWithPackages(t)
	testfiles.Fill(t, filepath.Join(root, "order"), map[string]string{
		"SKILL.md":     "---\nname: order\ndescription: Orders.\n---\n",
		"package.json": `{"dependencies": {"semver": "^7"}}`,
	})
	t.Setenv("npm_config_registry", "http://index.test/npm/")
	const images = "--sandbox=docker"
	code, shown := atTerminal(t, "", "call", images, "--project-access=off", "--root", root, "exec", "name=order", "command=! command -v npm")
	if strings.Contains(shown, "sandbox unavailable") {
		testenv.Need(t, "docker", errors.New(shown))
	}
	if code != exit.OK {
		t.Skipf("needs an image without npm: %s", shown)
	}
	_, shown = atTerminal(t, "", "call", images, "--project-access=off", "--root", root, "activate", "name=order")
	for _, want := range []string{"skills-mcp prepare --sandbox=docker order", "The sandbox has no npm"} {
		if !strings.Contains(shown, want) {
			t.Errorf("activate does not say %q:\n%s", want, shown)
		}
	}
	code, shown = atTerminal(t, "", "prepare", "--yes", images, "--root", root, "order")
	if code != exit.Failure || !strings.Contains(shown, "there is no npm in the image") || !strings.Contains(shown, "--docker-image") {
		t.Errorf("prepare exits with %d:\n%s", code, shown)
	}
}

// What a process that was killed has left unfinished is gone when a server has run.
func TestStartClearsAway(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "HOME"} {
		t.Setenv(name, home)
	}
	left := filepath.Join(home, "skills-mcp", "environments", "unfinished-1")
	testfiles.Fill(t, left, map[string]string{"made/python/pyvenv.cfg": ""})
	testfiles.Fill(t, filepath.Join(home, "skills", "report"), map[string]string{"SKILL.md": "---\nname: report\ndescription: Reports.\n---\n"})
	code := run(t.Context(), []string{"call", "--sandbox=unsafe-host", "--root", filepath.Join(home, "skills"), "findSkills"}, strings.NewReader(""), io.Discard, io.Discard)
	if _, err := os.Stat(left); code != exit.OK || err == nil {
		t.Errorf("it exits with %d, and %s is there: %v", code, left, err)
	}
}
