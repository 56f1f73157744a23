//go:build amd64 || arm64

package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// Interpreters are found where version managers put them, and no more is shown
// than what they are installed in.
func TestInterpretersOutsideOfTheSystem(t *testing.T) {
	dir := elsewhere(t)
	install := func(prefix, program string) {
		writeFile(t, filepath.Join(prefix, "bin", program), "#!/bin/sh\ncat \"$(dirname \"$0\")/../lib/says\"\n", 0o755)
		writeFile(t, filepath.Join(prefix, "lib/says"), filepath.Base(prefix)+"\n", 0o644)
	}
	install(filepath.Join(dir, ".rbenv/versions/3.3.0"), "ruby")
	install(filepath.Join(dir, ".rbenv/versions/2.7.0"), "ruby")
	writeFile(t, filepath.Join(dir, ".rbenv/shims/ruby"), "#!/bin/sh\nexit 9\n", 0o755)
	writeFile(t, filepath.Join(dir, ".rbenv/version"), "3.3.0\n", 0o644)
	install(filepath.Join(dir, ".nvm/v22.1.0"), "node")
	install(filepath.Join(dir, "linked/deno-2"), "deno")
	if err := errors.Join(
		os.Mkdir(filepath.Join(dir, "bin"), 0o755),
		os.Symlink("../linked/deno-2/bin/deno", filepath.Join(dir, "bin/deno")),
	); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "secret"), "secret", 0o644)
	path := []string{dir + "/.rbenv/shims", dir + "/.nvm/v22.1.0/bin", dir + "/bin", "relative", "/usr/bin", "/bin"}
	backend, err := local.New(t.Context(), local.Options{Tier: local.Full, Path: strings.Join(path, ":")})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	for program, says := range map[string]string{"ruby": "3.3.0\n", "node": "v22.1.0\n", "deno": "deno-2\n"} {
		result, err := backend.Run(t.Context(), sandbox.Spec{Argv: []string{program}, Workspace: t.TempDir()})
		if err != nil || string(result.Stdout.Data) != says {
			t.Errorf("%s said %q, %q, %v", program, result.Stdout.Data, result.Stderr.Data, err)
		}
	}
	hidden := "ls " + dir + "/secret " + dir + "/.rbenv/versions/2.7.0 " + dir + "/.rbenv/shims || true"
	result, err := backend.Run(t.Context(), sandbox.Spec{Shell: hidden, Workspace: t.TempDir()})
	if err != nil || len(result.Stdout.Data) > 0 {
		t.Errorf("programs see %q, %v", result.Stdout.Data, err)
	}
}

// An interpreter in a directory that holds more than an installation is not
// worth showing that.
func TestInterpretersInHomeAreNotShown(t *testing.T) {
	home := elsewhere(t)
	t.Setenv("HOME", home)
	for _, dir := range []string{"bin", ".local/bin"} {
		writeFile(t, filepath.Join(home, dir, "ruby"), "#!/bin/sh\n", 0o755)
		writeFile(t, filepath.Join(home, dir, "../lib/x"), "", 0o644)
		backend, err := local.New(t.Context(), local.Options{Tier: local.Full, Path: filepath.Join(home, dir)})
		if err != nil {
			t.Fatal(err)
		}
		result, err := backend.Run(t.Context(), sandbox.Spec{Shell: "ls -d " + home, Workspace: t.TempDir()})
		if err != nil || result.ExitCode == 0 {
			t.Errorf("%s is shown: %q, %v", home, result.Stdout.Data, err)
		}
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
	}
}

// By the names of programs nobody learns what is on the machine, wherever links
// of the workspace lead.
func TestProgramsElsewhereAreAsIfMissing(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	writeFile(t, filepath.Join(outside, "there"), "#!/bin/sh\n", 0o755)
	for _, tier := range []local.Tier{local.Full, local.Restricted} {
		backend := opener(tier)(t)
		defer backend.Close()
		workspace := t.TempDir()
		seen := workspace
		if tier == local.Full {
			seen = backend.Info().Workspace
		}
		for _, name := range []string{"there", "missing"} {
			if err := os.Symlink(filepath.Join(outside, name), filepath.Join(workspace, name)); err != nil {
				t.Fatal(err)
			}
			above, err := filepath.Rel(workspace, filepath.Join(outside, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, program := range []string{seen + "/" + name, seen + "/" + above} {
				_, err := backend.Run(t.Context(), sandbox.Spec{Argv: []string{program}, Workspace: workspace})
				if setup := new(sandbox.SetupError); !errors.As(err, &setup) || setup.Rule != "program-missing" {
					t.Errorf("%s: %s gives %v", tier, program, err)
				}
			}
		}
		// What a link leads to that programs see they may use.
		if err := os.Symlink("/bin/sh", filepath.Join(workspace, "sh")); err != nil {
			t.Fatal(err)
		}
		say(t, backend, sandbox.Spec{Argv: []string{seen + "/sh", "-c", "true"}, Workspace: workspace})
	}
}

// elsewhere makes a directory that is neither the system's nor temporary.
func elsewhere(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(".", "elsewhere-")
	if errors.Is(err, os.ErrPermission) {
		t.Skip("this user may not write to the source")
	}
	if err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(dir, "/tmp/") {
		t.Skip("the source is in a temporary directory, which programs do not see")
	}
	return dir
}

func writeFile(t *testing.T, name, content string, mode os.FileMode) {
	t.Helper()
	testfiles.WriteMode(t, name, content, mode)
}

// An interpreter that could not work inside does not stand in the way of one
// that does.
func TestInterpretersThatWouldNotWork(t *testing.T) {
	const works = "#!/bin/sh\necho works\n"
	good := installed(t, map[string]string{"bin/node": works, "lib/x": ""}, nil, nil)
	launcher := installed(t, map[string]string{"bin/node": "#!/bin/sh\nexit 9\n", "lib/x": "", "tools/x": ""}, nil, nil)
	shim := installed(t, map[string]string{"shim": "\x7fELF"}, map[string]string{"bin/node": "../shim"}, nil)
	closed := installed(t, map[string]string{"bin/node": works, "lib/x": ""}, nil, nil)
	if err := os.Chmod(closed+"/bin", 0o700); err != nil {
		t.Fatal(err)
	}
	bad := []string{launcher, shim, "/nowhere"}
	if os.Geteuid() == 0 { // else it works
		bad = append(bad, closed)
	}
	for _, dir := range bad {
		backend, err := local.New(t.Context(), local.Options{Tier: local.Full, Path: dir + "/bin:" + good + "/bin"})
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Close()
		for _, spec := range []sandbox.Spec{{Shell: "node"}, {Argv: []string{"node"}}} {
			spec.Workspace = t.TempDir()
			if said := say(t, backend, spec); said != "works\n" {
				t.Errorf("after %s: %q", dir, said)
			}
		}
	}
}
