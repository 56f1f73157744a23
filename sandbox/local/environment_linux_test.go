//go:build amd64 || arm64

package local_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// python stands for one: it says where it is and what its packages are.
const python = "#!/bin/sh\necho \"$0 $(cat \"$(dirname \"$0\")\"/../lib/python3.11/site-packages/says)\"\n"

// environments are ways in which a virtual environment can lie: what there is
// by path, and the directory by which it is named and that where it is. The
// Python that it was made of is at base.
var environments = []struct {
	name, named, at string
	files           []string
	links           map[string]string
}{
	{name: "plain", named: "env", at: "env", links: map[string]string{"env/bin/python3": "../../base/3.11.9/bin/python3.11"}},
	{
		name: "in-the-root-of-a-project", named: "project", at: "project",
		files: []string{"project/.git/config", "project/main.py", "project/bin/python3-tool"},
		links: map[string]string{
			"project/bin/python3": "python3.11", "project/bin/python3.11": "../../base/3.11.9/bin/python3.11", "project/bin/python3.10": "nowhere",
		},
	},
	{
		name: "of-the-newest-version", named: "env", at: "env",
		links: map[string]string{"env/bin/python3": "../../base/3.11/bin/python3.11", "base/3.11": "3.11.9"},
	},
	{
		name: "named-by-a-link", named: "project/.venv", at: "envs/a",
		links: map[string]string{"envs/a/bin/python3": "../../../base/3.11.9/bin/python3.11", "project/.venv": "../envs/a"},
	},
	{
		name: "of-pyenv", named: "pyenv/versions/mine", at: "pyenv/versions/3.11.9/envs/mine",
		files: []string{"pyenv/shims/python3"},
		links: map[string]string{
			"pyenv/versions/mine": "3.11.9/envs/mine", "pyenv/versions/3.11.9/envs/mine/bin/python3": "../../../../../../base/3.11.9/bin/python3.11",
		},
	},
	{
		name: "of-a-project", named: "project/.venv", at: "project/.venv",
		files: []string{"project/.env"},
		links: map[string]string{"project/.venv/bin/python3": "../../../base/3.11.9/bin/python3.11"},
	},
}

// A virtual environment is found wherever it lies, below /tmp too, and a
// script, a command and a program by its name get the same Python.
func TestVirtualEnvironments(t *testing.T) {
	skill := t.TempDir()
	writeFile(t, filepath.Join(skill, "x.py"), "#!/usr/bin/env python3\n", 0o644)
	for _, env := range environments {
		shown := map[string]string{
			"base/3.11.9/bin/python3.11": python, "base/3.11.9/lib/x": "",
			env.at + "/pyvenv.cfg": "home = /nowhere\n", env.at + "/lib/python3.11/site-packages/says": "packages of " + env.name,
		}
		dir := installed(t, shown, env.links, env.files)
		want := filepath.Join(dir, env.at, "bin/python3") + " packages of " + env.name + "\n"
		for _, by := range []string{"PATH", "shims", "VIRTUAL_ENV", "project"} {
			options := local.Options{Path: "/usr/bin:/bin", Project: filepath.Join(dir, "nothing")}
			t.Setenv("VIRTUAL_ENV", "")
			switch named := filepath.Join(dir, env.named); {
			case by == "PATH":
				options.Path = filepath.Join(named, "bin") + ":" + options.Path
			case by == "shims" && env.name == "of-pyenv":
				t.Setenv("PYENV_VERSION", "mine")
				options.Path = filepath.Join(dir, "pyenv/shims") + ":" + options.Path
			case by == "VIRTUAL_ENV":
				t.Setenv("VIRTUAL_ENV", named)
			case filepath.Base(env.named) != ".venv":
				continue
			default:
				options.Project = filepath.Dir(named)
			}
			for _, options.Tier = range []local.Tier{local.Full, local.Restricted} {
				backend, err := local.New(t.Context(), options)
				if err != nil {
					t.Fatal(err)
				}
				for _, spec := range []sandbox.Spec{{Script: "x.py"}, {Shell: "python3"}, {Argv: []string{"python3"}}} {
					spec.SkillDir, spec.Workspace = skill, t.TempDir()
					result, err := backend.Run(t.Context(), spec)
					if err != nil || string(result.Stdout.Data) != want {
						t.Errorf("%s by %s, %s: %+v: %q, %q, %v", env.name, by, options.Tier, spec, result.Stdout.Data, result.Stderr.Data, err)
					}
				}
				if strings.Contains(backend.Info().Notice, "virtual environment") {
					t.Errorf("%s by %s: %s", env.name, by, backend.Info().Notice)
				}
				if err := backend.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
	asNobodyToo(t)
}

// An interpreter that was copied into a virtual environment needs the library
// of the one that it was copied from.
func TestVirtualEnvironmentWithCopies(t *testing.T) {
	sh, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string]string{
		"base/bin/python3": string(sh), "base/lib/says": "library", "env/bin/python3": string(sh), "env/lib/python3.11/x": "",
		"env/pyvenv.cfg": "home = " + dir + "/base/bin\n",
	} {
		writeFile(t, filepath.Join(dir, name), content, 0o755)
	}
	for _, besides := range []string{"", "env/main.py"} {
		if besides != "" {
			writeFile(t, filepath.Join(dir, besides), "", 0o644)
		}
		backend, err := local.New(t.Context(), local.Options{Tier: local.Full, Path: dir + "/env/bin"})
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Close()
		result, err := backend.Run(t.Context(), sandbox.Spec{
			Argv: []string{"python3", "-c", `command -v python3; cat "$0"`, dir + "/base/lib/says"}, Workspace: t.TempDir(),
		})
		if want := dir + "/env/bin/python3\nlibrary"; err != nil || string(result.Stdout.Data) != want {
			t.Errorf("%q, %q, %v; want %q", result.Stdout.Data, result.Stderr.Data, err, want)
		}
	}
}

// Where the virtual environment cannot be shown, everything says so: the
// notice is in every answer, and the log has the reason.
func TestVirtualEnvironmentThatCannotBeShown(t *testing.T) {
	dir := installed(t,
		map[string]string{"env/pyvenv.cfg": "home = /nowhere\n", "env/lib/python3.11/x": "", "project/bin/python3.11": python, "project/main.py": ""},
		map[string]string{"env/bin/python3": "../../project/bin/python3.11"}, []string{"project/lib/x"})
	t.Setenv("VIRTUAL_ENV", filepath.Join(dir, "env"))
	var log strings.Builder
	backend, err := local.New(t.Context(), local.Options{Tier: local.Full, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	if notice := backend.Info().Notice; !strings.Contains(notice, "do not see the user's virtual environment") || strings.Contains(notice, dir) {
		t.Errorf("the notice is %q", notice)
	}
	if !strings.Contains(log.String(), dir+"/env") || !strings.Contains(log.String(), "main.py") {
		t.Errorf("the log is %q", log.String())
	}
	result, err := backend.Run(t.Context(), sandbox.Spec{Shell: "ls -d '" + dir + "'", Workspace: t.TempDir()})
	if err != nil || len(result.Stdout.Data) > 0 {
		t.Errorf("programs see %q, %v", result.Stdout.Data, err)
	}
}

// A virtual environment that is made again while the server runs costs no run.
func TestVirtualEnvironmentThatIsRemoved(t *testing.T) {
	dir := installed(t, map[string]string{
		"base/bin/python3.11": python, "base/lib/x": "", "env/pyvenv.cfg": "", "env/lib/python3.11/site-packages/says": "first",
	}, map[string]string{"env/bin/python3": "../../base/bin/python3.11"}, nil)
	backend, err := local.New(t.Context(), local.Options{Tier: local.Full, Path: filepath.Join(dir, "env/bin")})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	env, away := filepath.Join(dir, "env"), filepath.Join(dir, "away")
	if err := os.Rename(env, away); err != nil {
		t.Fatal(err)
	}
	say(t, backend, sandbox.Spec{Shell: "true", Workspace: t.TempDir()})
	// What has come in its place is not what was looked at.
	if err := os.Symlink("away", env); err != nil {
		t.Fatal(err)
	}
	result, err := backend.Run(t.Context(), sandbox.Spec{Shell: "cat '" + env + "/pyvenv.cfg'", Workspace: t.TempDir()})
	if err != nil || result.ExitCode == 0 {
		t.Errorf("%+v, %v", result, err)
	}
	if err := errors.Join(os.Remove(env), os.Rename(away, env)); err != nil {
		t.Fatal(err)
	}
	result, err = backend.Run(t.Context(), sandbox.Spec{Argv: []string{"python3"}, Workspace: t.TempDir()})
	if want := env + "/bin/python3 first\n"; err != nil || string(result.Stdout.Data) != want {
		t.Errorf("%q, %q, %v", result.Stdout.Data, result.Stderr.Data, err)
	}
}

// A directory whose name a PATH could not hold does not make programs of the
// workspace be found there.
func TestVirtualEnvironmentWithColon(t *testing.T) {
	dir := installed(t, map[string]string{"a:b/.venv/pyvenv.cfg": "", "a:b/.venv/lib/python3.11/x": "", "base/bin/python3.11": python, "base/lib/x": ""},
		map[string]string{"a:b/.venv/bin/python3": "../../../base/bin/python3.11"}, nil)
	t.Setenv("VIRTUAL_ENV", "")
	backend, err := local.New(t.Context(), local.Options{Tier: local.Full, Project: filepath.Join(dir, "a:b")})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	result, err := backend.Run(t.Context(), sandbox.Spec{
		Shell:     `mkdir -p b/.venv/bin && printf '#!/bin/sh\necho planted\n' > b/.venv/bin/planted && chmod +x b/.venv/bin/planted && planted`,
		Workspace: t.TempDir(),
	})
	if err != nil || result.ExitCode != 127 {
		t.Errorf("%+v, %q, %v", result, result.Stdout.Data, err)
	}
}
