//go:build amd64 || arm64

package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// hiding are directories in which an interpreter is found on PATH, or a virtual
// environment, and that hold secrets: files whose names begin with "secret" or
// that the attack names.
var hiding = []struct {
	name    string
	shown   map[string]string // files that make it an installation
	links   map[string]string
	secrets []string // files
	dirs    []string // of PATH; bin by default
}{
	{
		name:  "virtual environment in a project's root",
		shown: map[string]string{"pyvenv.cfg": "home = /usr/bin\n", "lib/python3.11/site-packages/x.py": ""},
		links: map[string]string{"bin/python3": "/usr/bin/python3", "lib64": "lib"},
		secrets: []string{
			".env", ".git/config", "main.py", "lib/mine.py", "bin/deploy", "include/x.h", "share/x", "pip.conf", "etc/x", "src/x",
		},
	},
	{
		name:    "installation with settings",
		shown:   map[string]string{"bin/node": "#!/bin/sh\n", "lib/x": "", "share/x": "", "LICENSE": ""},
		secrets: []string{"etc/npmrc", "pip.conf", ".npmrc", "var/x"},
	},
	{
		name:    "project with programs",
		shown:   map[string]string{"bin/perl": "#!/bin/sh\n"},
		secrets: []string{"lib/x", "share/x", ".git/config", ".env"},
	},
	{
		name:    "directory of anything",
		shown:   map[string]string{"bin/ruby": "#!/bin/sh\n"},
		secrets: []string{"lib/x", "letters/x"},
	},
	{
		name:    "directory of one program and a file",
		shown:   map[string]string{"bin/node": "\x7fELF"},
		secrets: []string{"lib/x", "notes.txt", "bin/other"},
	},
	{
		name:    "installation whose parts lead elsewhere",
		shown:   map[string]string{"in/bin/ruby": "#!/bin/sh\n", "in/include/x": ""},
		links:   map[string]string{"in/lib": "../private", "in/share": "../private"},
		secrets: []string{"private/x"},
		dirs:    []string{"in/bin"},
	},
	{
		name:    "virtual environment whose parts lead elsewhere",
		shown:   map[string]string{"in/pyvenv.cfg": "home = /usr/bin\n", "private/python3.11/x": ""},
		links:   map[string]string{"in/bin/python3": "/usr/bin/python3", "in/lib": "../private", "in/include": "../private", "in/lib64": "../private"},
		secrets: []string{"private/x", "private/python3.11/y"},
		dirs:    []string{"in/bin"},
	},
	{
		name:    "virtual environment whose interpreter leads elsewhere",
		shown:   map[string]string{"in/pyvenv.cfg": "home = ../private/bin\n", "in/lib/python3.11/x": "", "private/bin/tool": "#!/bin/sh\n"},
		links:   map[string]string{"in/bin/python3": "../../private/bin/tool"},
		secrets: []string{"private/lib/x", "private/share/x"},
		dirs:    []string{"in/bin"},
	},
}

// Of the directory in which an interpreter is, programs see what belongs to
// the interpreter alone.
func TestInterpretersShowNoSecrets(t *testing.T) {
	testenv.Slow(t, "opens the sandbox for each way to hide a secret")
	for _, attack := range hiding {
		t.Run(strings.ReplaceAll(attack.name, " ", "-"), func(t *testing.T) {
			dir := installed(t, attack.shown, attack.links, attack.secrets)
			if attack.dirs == nil {
				attack.dirs = []string{"bin"}
			}
			var path []string
			for _, bin := range attack.dirs {
				path = append(path, filepath.Join(dir, bin))
			}
			t.Setenv("VIRTUAL_ENV", filepath.Dir(path[0]))
			for _, tier := range []local.Tier{local.Full, local.Restricted} {
				if found := search(t, tier, local.Options{Path: strings.Join(path, ":")}, dir); found != "" {
					t.Errorf("%s: programs read %s", tier, found)
				}
			}
		})
	}
	asNobodyToo(t)
}

// What the owner keeps from others is not shown by a server that is root.
func TestPrivateFilesOfInstallations(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("programs are the user whose files these are")
	}
	dir := installed(t, map[string]string{"bin/ruby": "#!/bin/sh\n", "lib/x": ""}, nil, []string{"lib/private", "lib/dir/x"})
	for name, mode := range map[string]os.FileMode{"lib/private": 0o600, "lib/dir": 0o700} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if found := search(t, local.Full, local.Options{Path: filepath.Join(dir, "bin")}, dir); found != "" {
		t.Errorf("programs read %s", found)
	}
}

// installed makes a directory of these files and links. What is secret says so.
func installed(t *testing.T, shown, links map[string]string, secrets []string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // every user may go there
		t.Fatal(err)
	}
	for name, content := range shown {
		writeFile(t, filepath.Join(dir, name), content, 0o755)
	}
	for name, target := range links {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range secrets {
		writeFile(t, filepath.Join(dir, name), "the secret of "+name, 0o644)
	}
	return dir
}

// search returns what a program finds of secrets below a directory.
func search(t *testing.T, tier local.Tier, options local.Options, dir string) string {
	t.Helper()
	options.Tier = tier
	backend, err := local.New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	// Names of files are no secret in the tier restricted, and find needs to list.
	tried := `cd "$DIR" 2>/dev/null || exit 0; grep -rls "the secret of" . ; while read -r name; do grep -ls "the secret of" "$name"; done <<< "$NAMES"; true`
	var names []string
	filepath.WalkDir(dir, func(name string, _ os.DirEntry, _ error) error {
		names = append(names, name)
		return nil
	})
	result, err := backend.Run(t.Context(), sandbox.Spec{
		Shell: tried, Workspace: t.TempDir(), Env: map[string]string{"DIR": dir, "NAMES": strings.Join(names, "\n")},
	})
	if err != nil || result.ExitCode != 0 {
		t.Fatalf("%+v, %v", result, err)
	}
	return string(result.Stdout.Data)
}
