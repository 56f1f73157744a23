//go:build amd64 || arm64

package environments_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
)

// in returns the fixture for containers of an image.
func (f fixture) in(t testing.TB, image string) *fixture {
	t.Helper()
	containers, err := docker.New(t.Context(), docker.Options{Image: image})
	testenv.Need(t, "docker", err)
	t.Cleanup(func() {
		if err := containers.Close(); err != nil {
			t.Error(err)
		}
	})
	if !containers.Info().Egress {
		t.Skip("needs an engine whose containers can be limited to hosts")
	}
	f.backend, f.store = containers, &environments.Store{Dir: f.store.Dir, Machine: environments.MachineOf(containers)}
	return &f
}

// TestPythonInContainers: an environment is made in the image that has it then.
func TestPythonInContainers(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "making an environment in containers")
	f := newFixture(t).in(t, "")
	made := f.prepare(t, f.greeting())
	f.expect(t, made, `greet`, nil, "greeting hello")
	f.expect(t, made, `python -m pip install greeting && uv run s.py`, entries{"s.py": "import greeting; greeting.main()\n"}, "greeting hello")
	if result := f.run(t, made, `echo x >"$VIRTUAL_ENV/lib/x"`, nil); result.ExitCode == 0 {
		t.Error("a program wrote to it")
	}
	checkTree(t, made.Show[0])
}

// TestImageThatChanged: what was made in an image is not used in another one that
// has its name by now, such as one with npm.
func TestImageThatChanged(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "making an image")
	name := fmt.Sprintf("skills-mcp/test-environments:%d", os.Getpid())
	f := newFixture(t)
	_ = f.in(t, "") // skips where there are no containers
	engine(t, nil, "tag", docker.DefaultImage, name)
	t.Cleanup(func() { engine(t, nil, "rmi", name) })
	before := f.in(t, name)
	python, npm := f.greeting(), f.shouting()
	made := before.prepare(t, python)
	missing := (*environments.MissingError)(nil)
	if result := before.run(t, nil, "command -v npm", nil); result.ExitCode == 0 {
		t.Log("the image has npm")
	} else if _, err := before.store.Prepare(t.Context(), before.request(t, npm)); !errors.As(err, &missing) || missing.Program != "npm" {
		t.Errorf("without npm: %v", err)
	}

	if !nameOffice(t, name) {
		addNode(t, name)
	}
	after := f.in(t, name)
	if _, err := after.store.Find(python); !errors.Is(err, environments.ErrNotPrepared) {
		t.Errorf("in another image: %v", err)
	}
	if found, err := before.store.Find(python); err != nil || found.Key != made.Key {
		t.Errorf("a server that runs has the image that it began with, and not %v, %v", found, err)
	}
	files := entries{"a.cjs": "console.log('cjs', require('shout'))\n", "a.mjs": "import own from '@own/module';\nconsole.log('mjs', own)\n"}
	for range testenv.Rounds(t, 1, 2) { // what was started ahead with packages that are gone by now is of no use
		shouting := after.prepare(t, npm)
		after.expect(t, shouting, "node a.cjs; node a.mjs; npx -y shout a; npm ls -g", files, "cjs HELLO\nmjs MODULE\nshout HELLO a")
		checkTree(t, shouting.Show[0])
		if pruned, err := after.store.Prune(0); err != nil || len(pruned.InUse) > 0 {
			t.Errorf("pruned %v, %v", pruned, err)
		}
	}
}

// nameOffice gives a name to the image that has npm and all else, and reports whether
// there is one of this version.
func nameOffice(t testing.TB, name string) bool {
	t.Helper()
	const office = "skills-mcp/office:latest"
	versions, err := exec.Command("docker", "image", "inspect", "--format", `{{index .Config.Labels "skills-mcp.entry"}}`, office, docker.DefaultImage).Output()
	if fields := strings.Fields(string(versions)); err != nil || len(fields) != 2 || fields[0] != fields[1] {
		return false
	}
	engine(t, nil, "tag", office, name)
	return true
}

// addNode puts this machine's node and npm into an image.
func addNode(t testing.TB, image string) {
	t.Helper()
	const needs = "needs an npm that is one directory, and a node that is one file"
	node, err := exec.LookPath("node")
	testenv.Need(t, "node", err)
	npm, err := exec.LookPath("npm")
	testenv.Need(t, "node", err)
	program, err := filepath.EvalSymlinks(npm)
	modules, _, found := strings.Cut(program, "/npm/bin/")
	if err != nil || !found {
		t.Skip(needs)
	}
	files := t.TempDir()
	for _, link := range []string{"node", "npm"} {
		mkdir(t, filepath.Join(files, "bin"))
		target := map[string]string{"node": "../lib/node", "npm": "../lib/npm/bin/npm-cli.js"}[link]
		if err := os.Symlink(target, filepath.Join(files, "bin", link)); err != nil {
			t.Fatal(err)
		}
	}
	copied := mkdir(t, filepath.Join(files, "lib"))
	if out, err := exec.Command("cp", "--recursive", "--dereference", node, filepath.Join(modules, "npm"), copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	libraries, _ := exec.Command("ldd", node).Output() // none where it is static
	for line := range strings.Lines(string(libraries)) {
		if fields := strings.Fields(line); len(fields) > 2 && strings.HasPrefix(fields[0], "libstdc++") {
			if out, err := exec.Command("cp", "--dereference", fields[2], copied).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
	}
	tar := exec.Command("tar", "-C", files, "--owner=0", "--group=0", "-c", ".")
	archive, err := tar.Output()
	if err != nil {
		t.Fatal(err)
	}
	container := engine(t, nil, "create", "--network=none", "--user=0:0", "--entrypoint=/sbin/ldconfig", image)
	defer func() { engine(t, nil, "rm", "--force", container) }()
	engine(t, bytes.NewReader(archive), "cp", "-", container+":/usr/local/")
	engine(t, nil, "start", "--attach", container)
	entry := engine(t, nil, "inspect", "--format={{json .Config.Entrypoint}}", image)
	if entry == "null" {
		entry = "[]"
	}
	engine(t, nil, "commit", "--change=ENTRYPOINT "+entry, "--change=USER 65534:65534", container, image)
	if out, err := exec.Command("docker", "run", "--rm", "--network=none", "--entrypoint=/bin/sh", image, "-c", "node --version && npm --version").CombinedOutput(); err != nil {
		t.Skipf("%s: %v: %s", needs, err, out)
	}
}

// engine runs Docker's command, and returns what it prints.
func engine(t testing.TB, stdin io.Reader, arguments ...string) string {
	t.Helper()
	command := exec.Command("docker", arguments...)
	var out, said bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr, command.WaitDelay = stdin, &out, &said, time.Minute
	if err := command.Run(); err != nil {
		t.Fatalf("docker %q: %v: %s", arguments, err, &said)
	}
	return strings.TrimSpace(out.String())
}
