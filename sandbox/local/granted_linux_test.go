//go:build amd64 || arm64

package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// What would hide what programs need, or is of the sandbox itself, is refused; what
// is shown anyway is no fault.
func TestGrantedInTheWay(t *testing.T) {
	t.Parallel()
	backend := opener(local.Full)(t)
	defer backend.Close()
	for name, rule := range map[string]string{
		"/etc": "show-refused", "/dev": "show-refused", "/dev/pts": "show-refused", "/proc/sys": "show-refused", "/sys": "show-refused", "/var": "show-refused",
		"/usr/share": "", "/usr": "",
	} {
		_, err := backend.Run(t.Context(), sandbox.Spec{Shell: "cat /etc/passwd > /dev/null && ls /usr/share > /dev/null", Show: []string{name}, Workspace: t.TempDir()})
		if setup := new(sandbox.SetupError); errors.As(err, &setup) && setup.Rule != rule || (err == nil) != (rule == "") {
			t.Errorf("%s: %v, want the rule %q", name, err, rule)
		}
	}
}

// Who the owner of what is shown is, and what others may, does not matter to
// programs in namespaces of their own.
func TestGrantedOfAnotherOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root shows what is another user's")
	}
	t.Parallel()
	dir := testfiles.Dir(t, map[string]string{"file": "readable"})
	for name, mode := range map[string]os.FileMode{"file": 0o600, "": 0o700} {
		if err := errors.Join(os.Chmod(filepath.Join(dir, name), mode), os.Chown(filepath.Join(dir, name), 1234, 1234)); err != nil {
			t.Fatal(err)
		}
	}
	spec := sandbox.Spec{Shell: `cat "$SHOWN/file"`, Show: []string{dir}, Env: map[string]string{"SHOWN": dir}, Workspace: t.TempDir()}
	full := opener(local.Full)(t)
	defer full.Close()
	result, err := full.Run(t.Context(), spec)
	if string(result.Stdout.Data) != "readable" || err != nil {
		t.Errorf("the program reads %q, %q, %v", result.Stdout.Data, result.Stderr.Data, err)
	}
	restricted := opener(local.Restricted)(t)
	defer restricted.Close()
	_, err = restricted.Run(t.Context(), spec)
	if setup := new(sandbox.SetupError); !errors.As(err, &setup) || setup.Rule != "show-refused" {
		t.Errorf("where programs are in the server's own file system: %v", err)
	}
}

// A link in what is shown leads programs to what they see, and finds no program
// that they do not.
func TestProgramsOfGrantedLinks(t *testing.T) {
	t.Parallel()
	hidden := testfiles.Dir(t, nil)
	testfiles.WriteMode(t, filepath.Join(hidden, "tool"), "#!/bin/sh\necho hidden\n", 0o755)
	other := testfiles.Dir(t, nil)
	testfiles.WriteMode(t, filepath.Join(other, "tool"), "#!/bin/sh\necho other\n", 0o755)
	dir := testfiles.Dir(t, nil)
	for name, target := range map[string]string{"hidden": filepath.Join(hidden, "tool"), "other": filepath.Join(other, "tool"), "shell": "/bin/sh", "none": "none"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tier := range []local.Tier{local.Full, local.Restricted} {
		backend := opener(tier)(t)
		defer backend.Close()
		for name, want := range map[string]string{"hidden": "", "other": "other\n", "shell": "shell\n", "none": ""} {
			result, err := backend.Run(t.Context(), sandbox.Spec{
				Argv: []string{name, "-c", "echo shell"}, Show: []string{dir, other}, Path: []string{dir}, Workspace: t.TempDir(),
			})
			if string(result.Stdout.Data) != want || (err == nil) != (want != "") {
				t.Errorf("%s, %s: %q %q, %v", tier, name, result.Stdout.Data, result.Stderr.Data, err)
			}
		}
	}
}

// What is exchanged for a link, or in the path of which something is, while runs
// start, is shown as it was or not at all.
func TestGrantedIsExchanged(t *testing.T) {
	t.Parallel()
	base := testfiles.Dir(t, map[string]string{"shown/dir/file": "granted\n", "secret/dir/file": "secret\n"})
	shown, link := filepath.Join(base, "shown"), filepath.Join(base, "link")
	if err := os.Symlink("secret", link); err != nil {
		t.Fatal(err)
	}
	var exchanging sync.WaitGroup
	stop := make(chan struct{})
	exchanging.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				unix.Renameat2(unix.AT_FDCWD, shown, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
			}
		}
	})
	defer exchanging.Wait()
	defer close(stop)
	for _, tier := range []local.Tier{local.Full, local.Restricted} {
		backend := opener(tier)(t)
		defer backend.Close()
		for range 30 {
			for _, name := range []string{shown, filepath.Join(shown, "dir")} {
				result, err := backend.Run(t.Context(), sandbox.Spec{
					Shell: `cat "$BASE/shown/dir/file" "$BASE/shown/file" "$BASE/secret/dir/file"`, Show: []string{name},
					Env: map[string]string{"BASE": base}, Workspace: t.TempDir(),
				})
				if setup := new(sandbox.SetupError); err != nil && !errors.As(err, &setup) {
					t.Fatal(err)
				}
				if strings.Contains(string(result.Stdout.Data), "secret") {
					t.Fatalf("%s: the program reads what it was not granted", tier)
				}
			}
		}
	}
}

// A virtual environment that is shown is the one in which scripts run, whatever
// names Python, and what the user has installed does not hide its modules.
func TestGrantedEnvironment(t *testing.T) {
	home := testfiles.Dir(t, nil)
	t.Setenv("HOME", home)
	t.Setenv("PYTHONUSERBASE", "")
	for _, tier := range []local.Tier{local.Full, local.Restricted} {
		first := opener(tier)(t)
		result, err := first.Run(t.Context(), sandbox.Spec{
			Argv: []string{"python3", "-c", "import os, sys; print(os.path.realpath(sys.executable), 'python%d.%d' % sys.version_info[:2])"}, Workspace: t.TempDir(),
		})
		if setup := new(sandbox.SetupError); errors.As(err, &setup) && setup.Rule == "program-missing" {
			testenv.Need(t, "python", err)
		}
		first.Close()
		python, version, found := strings.Cut(strings.TrimSpace(string(result.Stdout.Data)), " ")
		if err != nil || !found {
			t.Fatalf("%s: there is no Python: %q %v", tier, result.Stderr.Data, err)
		}
		testfiles.Write(t, filepath.Join(home, ".local", "lib", version, "site-packages", "granted.py"), "print('of the user')\n")
		dir := testfiles.Dir(t, map[string]string{
			"pyvenv.cfg": "home = " + filepath.Dir(python) + "\n",
			"lib/" + version + "/site-packages/granted.py": "print('granted')\n",
			"bin/": "",
		})
		for _, name := range []string{"python3", "python"} {
			if err := os.Symlink(python, filepath.Join(dir, "bin", name)); err != nil {
				t.Fatal(err)
			}
		}
		skill := testfiles.Dir(t, map[string]string{"by-name.py": "import granted", "by-path": "#!/usr/bin/python3\nimport granted", "by-env": "#!/usr/bin/env python\nimport granted"})
		backend := opener(tier)(t)
		defer backend.Close()
		for _, spec := range []sandbox.Spec{
			{Script: "by-name.py"}, {Script: "by-path"}, {Script: "by-env"}, {Argv: []string{"python", "-c", "import granted"}},
			{Shell: "python -c 'import granted'"}, {Shell: `exec python3 "$SKILL_DIR/by-name.py"`},
		} {
			spec.SkillDir, spec.Workspace, spec.Show, spec.Path = skill, t.TempDir(), []string{dir}, []string{filepath.Join(dir, "bin")}
			result, err := backend.Run(t.Context(), spec)
			if string(result.Stdout.Data) != "granted\n" || err != nil {
				t.Errorf("%s: %s%s%q: %q %q, %v", tier, spec.Script, spec.Shell, spec.Argv, result.Stdout.Data, result.Stderr.Data, err)
			}
		}
	}
}
