//go:build amd64 || arm64

package local_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

const site = ".local/lib/python3.11/site-packages"

// packages are what a user may have installed apart from the interpreters, and
// the variable by which programs are told. Paths are below the home directory.
var packages = []struct {
	name     string
	files    map[string]string // besides those of all
	links    map[string]string
	env      map[string]string
	program  string
	variable string
	want     []string // below the home directory
}{
	{
		name: "of Python", files: map[string]string{site + "/mine.py": "mine"},
		program: "python3", variable: "PYTHONPATH", want: []string{site},
	},
	{
		name: "of Python elsewhere", files: map[string]string{"base/lib/python3.11/site-packages/mine.py": "mine"},
		env:     map[string]string{"PYTHONUSERBASE": "base"},
		program: "python3", variable: "PYTHONPATH", want: []string{"base/lib/python3.11/site-packages"},
	},
	{
		name:    "of Python, in the place of Python's own",
		files:   map[string]string{site + "/mine.py": "mine", site + "/pathlib.py": "", "python/lib/python3.11/pathlib.py": ""},
		program: "python3", variable: "PYTHONPATH",
	},
	{
		name:    "of Python, in a virtual environment",
		files:   map[string]string{site + "/mine.py": "mine", "env/pyvenv.cfg": "", "env/lib/python3.11/x": ""},
		links:   map[string]string{"env/bin/python3": "../../python/bin/python3.11"},
		env:     map[string]string{"VIRTUAL_ENV": "env"},
		program: "python3", variable: "PYTHONPATH",
	},
	{
		name:    "of another Python",
		files:   map[string]string{".local/lib/python3.12/site-packages/mine.py": "mine"},
		program: "python3", variable: "PYTHONPATH",
	},
	{
		name: "of npm",
		files: map[string]string{
			".npmrc":                              "//registry.example/:_authToken=the secret of npm\nprefix = ${HOME}/.npm-global\n",
			".npm-global/lib/node_modules/x/x.js": "#!/bin/sh\necho runs\n", ".npm-global/bin/other": "the secret of other",
		},
		links:   map[string]string{".npm-global/bin/tool": "../lib/node_modules/x/x.js", ".npm-global/bin/out": "../../.npmrc"},
		program: "tool", variable: "NODE_PATH", want: []string{".npm-global/lib/node_modules", "node/lib/node_modules"},
	},
	{
		name: "of npm, by a variable", files: map[string]string{".local/lib/node_modules/x/x.js": "#!/bin/sh\necho runs\n"},
		links:   map[string]string{".local/bin/tool": "../lib/node_modules/x/x.js"},
		env:     map[string]string{"NPM_CONFIG_PREFIX": ".local"},
		program: "tool", variable: "NODE_PATH", want: []string{".local/lib/node_modules", "node/lib/node_modules"},
	},
}

// What the user has installed apart from the interpreters is found by a
// variable that names it, and nothing else of the home directory is shown.
func TestPackagesOfTheUser(t *testing.T) {
	testenv.Slow(t, "opens the sandbox for each way to install a package")
	for _, test := range packages {
		t.Run(strings.ReplaceAll(test.name, " ", "-"), func(t *testing.T) {
			home := homeWith(t, test.files, test.links)
			t.Setenv("HOME", home)
			for _, name := range []string{"VIRTUAL_ENV", "PYTHONUSERBASE", "NPM_CONFIG_PREFIX"} {
				t.Setenv(name, "")
				if test.env[name] != "" {
					t.Setenv(name, filepath.Join(home, test.env[name]))
				}
			}
			var want []string
			for _, dir := range test.want {
				want = append(want, filepath.Join(home, dir))
			}
			options := local.Options{Path: home + "/python/bin:" + home + "/node/bin", Project: "/"}
			for _, options.Tier = range []local.Tier{local.Full, local.Restricted} {
				usePackages(t, options, test.variable, test.program, want)
				if found := search(t, options.Tier, options, home); found != "" {
					t.Errorf("%s: programs read %s", options.Tier, found)
				}
			}
		})
	}
	asNobodyToo(t)
}

// homeWith makes a home directory with Python and Node.js, these files and
// links, and secrets.
func homeWith(t *testing.T, files, links map[string]string) string {
	t.Helper()
	shown := map[string]string{
		"python/bin/python3.11": "#!/bin/sh\necho runs\n", "python/lib/x": "", "node/bin/node": "#!/bin/sh\n", "node/lib/node_modules/npm/x": "",
	}
	maps.Copy(shown, files)
	all := map[string]string{"python/bin/python3": "python3.11"}
	maps.Copy(all, links)
	return installed(t, shown, all, []string{"secret", ".local/lib/x", ".local/share/x", ".local/lib/python3.11/x", "base/x"})
}

// usePackages checks what a variable says, that a program runs, and that what is
// named can be listed and not written.
func usePackages(t *testing.T, options local.Options, variable, program string, want []string) {
	t.Helper()
	backend, err := local.New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	said := say(t, backend, sandbox.Spec{Shell: `printf '%s ' "$` + variable + `"; ` + program, Workspace: t.TempDir()})
	for _, other := range []string{":/usr/local/lib/node_modules", ":/usr/lib/node_modules"} { // of the machine
		said = strings.Replace(said, other, "", 1)
	}
	if said != strings.Join(want, ":")+" runs\n" {
		t.Errorf("%s: %q, want %q", options.Tier, said, want)
	}
	for _, dir := range want {
		result, err := backend.Run(t.Context(), sandbox.Spec{Shell: "ls '" + dir + "' && : > '" + dir + "/new'", Workspace: t.TempDir()})
		if err != nil || result.ExitCode == 0 || len(result.Stdout.Data) == 0 {
			t.Errorf("%s: %+v, %v", options.Tier, result, err)
		}
	}
}

// Python has the name "python" too, however it is called.
func TestPythonByItsShortName(t *testing.T) {
	dir := installed(t, map[string]string{"bin/python3.11": "#!/bin/sh\necho runs\n", "lib/x": ""}, map[string]string{"bin/python3": "python3.11"}, nil)
	skill := t.TempDir()
	writeFile(t, filepath.Join(skill, "x"), "#!/usr/bin/env python\n", 0o644)
	if _, err := os.Stat("/usr/bin/python"); err == nil {
		t.Skip("this system has it")
	}
	for _, tier := range []local.Tier{local.Full, local.Restricted} {
		backend, err := local.New(t.Context(), local.Options{Tier: tier, Path: dir + "/bin"})
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Close()
		for _, spec := range []sandbox.Spec{{Script: "x"}, {Shell: "python"}, {Argv: []string{"python"}}, {Shell: "/usr/bin/env python"}} {
			spec.SkillDir, spec.Workspace = skill, t.TempDir()
			if said := say(t, backend, spec); said != "runs\n" {
				t.Errorf("%s: %+v said %q", tier, spec, said)
			}
		}
	}
	asNobodyToo(t)
}
