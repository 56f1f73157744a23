package command_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/command"
)

// installed is a Lookup in which only the given programs are found.
func installed(programs ...string) command.Lookup {
	return func(name string) (string, bool) {
		if strings.HasPrefix(name, "/") {
			return name, slices.Contains(programs, name)
		}
		return "/bin/" + name, slices.Contains(programs, name)
	}
}

func writeScript(t testing.TB, name, content string, mode os.FileMode) (dir string) {
	t.Helper()
	dir = t.TempDir()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), mode)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestScriptCommandLine(t *testing.T) {
	t.Parallel()
	all := installed("bash", "sh", "python3", "node", "ruby", "perl", "php", "lua", "Rscript", "pwsh", "zsh", "tsx", "env", "uv", "/bin/sh", "/usr/bin/env")
	for _, c := range []struct {
		name, content string
		look          command.Lookup
		want          string // without the script; ends in "-" for none
	}{
		{"a.py", "", all, "/bin/python3"},
		{"a.PY", "", all, "/bin/python3"},
		{"a.py", "", installed("python"), "/bin/python"},
		{"a.sh", "", all, "/bin/bash"},
		{"a.sh", "", installed("sh"), "/bin/sh"},
		{"a.bash", "", all, "/bin/bash"},
		{"a.zsh", "", all, "/bin/zsh"},
		{"a.js", "", all, "/bin/node"},
		{"a.mjs", "", all, "/bin/node"},
		{"a.cjs", "", all, "/bin/node"},
		{"a.ts", "", all, "/bin/tsx"},
		{"a.ts", "", installed("node"), "/bin/node"},
		{"a.rb", "", all, "/bin/ruby"},
		{"a.pl", "", all, "/bin/perl"},
		{"a.php", "", all, "/bin/php"},
		{"a.lua", "", all, "/bin/lua"},
		{"a.R", "", all, "/bin/Rscript"},
		{"a.r", "", all, "/bin/Rscript"},
		{"a.ps1", "", all, "/bin/pwsh -NoProfile -File"},
		{"a", "#!/usr/bin/env -S python3 -u\nx", all, "/bin/python3 -u"},
		{"a", "#!/usr/bin/env -Spython3 -u\nx", all, "/bin/python3 -u"},
		{"a", "#!/usr/bin/env --split-string=python3 -u\nx", all, "/bin/python3 -u"},
		{"a", "#!/usr/bin/env -S uv run --script\n", all, "/bin/uv run --script"},
		{"a", "#!/usr/bin/env node", all, "/bin/node"},
		{"a", "#!/usr/bin/env nodejs\n", all, "/bin/node"},
		{"a", "#!/usr/bin/env python\n", all, "/bin/python3"},
		{"a", "#!/bin/bash -e\r\nx", all, "/bin/bash -e"},
		{"a", "#!/bin/sh\n", all, "/bin/sh"},
		{"a", "#! \t/bin/sh  -e  -u \n", all, "/bin/sh -e -u"},
		{"a", "\ufeff#!/usr/bin/perl -w\n", all, "/bin/perl -w"},
		{"a", "#!/usr/bin/env -i A=b sh\n", all, "/usr/bin/env -i A=b sh"},
		{"a", "#!/usr/bin/env -S A=b sh\n", all, "/usr/bin/env A=b sh"},
		{"a.py", "#!/bin/sh\n", all, "/bin/sh"},
		{"a.py", "#!\n", all, "/bin/python3"},
		{"a.py", "# !/bin/sh\n", all, "/bin/python3"},
		{"a", "#!/usr/bin/env python3\n", installed("sh"), "interpreter-missing"},
		{"a.rb", "", installed("sh"), "interpreter-missing"},
		{"a", "", all, "interpreter-unknown"},
		{"a.txt", "text", all, "interpreter-unknown"},
		{"a", "\x7fELF", all, "interpreter-unknown"},
	} {
		dir := writeScript(t, "scripts/"+c.name, c.content, 0o644)
		spec := sandbox.Spec{SkillDir: dir, Script: "scripts/" + c.name, Args: []string{"x", "y z"}}
		line, err := command.Line(spec, "/skill", c.look)
		var setup *sandbox.SetupError
		if errors.As(err, &setup) {
			if setup.Rule != c.want {
				t.Errorf("%s %q: %s, want %s", c.name, c.content, setup.Rule, c.want)
			}
			continue
		}
		want := append(strings.Fields(c.want), "/skill/scripts/"+c.name, "x", "y z")
		if diff := cmp.Diff(want, line); diff != "" || err != nil {
			t.Errorf("%s %q: %v %s", c.name, c.content, err, diff)
		}
	}
}

// What is in the directories of a spec is found before what is installed, for
// scripts, programs and the shell alike.
func TestProgramsOfPath(t *testing.T) {
	t.Parallel()
	look := installed("bash", "node", "python3", "/usr/bin/python3", "/env/bin/python3", "/env/bin/tool", "/env/bin/bash", "/more/node", "/more/tool", "/env/bin//etc/tool")
	for _, c := range []struct {
		spec sandbox.Spec
		want string
	}{
		{sandbox.Spec{Argv: []string{"tool"}}, "/env/bin/tool"},
		{sandbox.Spec{Argv: []string{"python3"}}, "/env/bin/python3"},
		{sandbox.Spec{Argv: []string{"/usr/bin/python3"}}, "/usr/bin/python3"},
		{sandbox.Spec{Argv: []string{"node"}}, "/more/node"},
		{sandbox.Spec{Argv: []string{"../tool"}}, "none"},
		{sandbox.Spec{Argv: []string{"/etc/tool"}}, "none"},
		{sandbox.Spec{Argv: []string{".."}}, "none"},
		{sandbox.Spec{Script: "a.py"}, "/env/bin/python3"},
		{sandbox.Spec{Script: "a.sh"}, "/env/bin/bash"},
		{sandbox.Spec{Script: "named"}, "/env/bin/python3"},
		{sandbox.Spec{Script: "elsewhere"}, "/env/bin/python3"},
		{sandbox.Spec{Shell: "x"}, "/bin/bash"},
	} {
		c.spec.Path = []string{"/env/bin", "/more/"}
		c.spec.SkillDir = t.TempDir()
		for name, content := range map[string]string{"a.py": "", "a.sh": "", "named": "#!/usr/bin/env python3\n", "elsewhere": "#!/usr/bin/python3\n"} {
			if err := os.WriteFile(filepath.Join(c.spec.SkillDir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		line, err := command.Line(c.spec, "/skill", look)
		if got := slices.Concat(line, []string{"none"})[0]; got != c.want || (err != nil) != (c.want == "none") {
			t.Errorf("%+v starts %q, %v, want %s", c.spec, line, err, c.want)
		}
	}
	users := map[string]string{"PYTHONPATH": "/home/user/packages"}
	for skill, want := range map[string]string{"": "", "/skill": "PYTHONPATH=/skill"} {
		environ, err := command.Environ(sandbox.Spec{Path: []string{"/env/bin", "/more"}}, "/usr/bin:/bin", users, command.Dirs{Skill: skill})
		if err != nil || !slices.Contains(environ, "PATH=/env/bin:/more:/usr/bin:/bin") {
			t.Errorf("the environment is %q, %v", environ, err)
		}
		if got := strings.Join(slices.DeleteFunc(environ, func(v string) bool { return !strings.HasPrefix(v, "PYTHONPATH") }), " "); got != want {
			t.Errorf("with the skill at %q, %q, want %q", skill, got, want)
		}
	}
}

func TestNativeExecutables(t *testing.T) {
	t.Parallel()
	for _, magic := range []string{"\x7fELF\x02", "MZ\x90", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		dir := writeScript(t, "tool", magic, 0o755)
		line, err := command.Line(sandbox.Spec{SkillDir: dir, Script: "tool", Args: []string{"x"}}, "/s", installed())
		if err != nil || !slices.Equal(line, []string{"/s/tool", "x"}) {
			t.Errorf("%q gives %q, %v", magic, line, err)
		}
	}
	dir := writeScript(t, "tool", "no magic", 0o755)
	if line, err := command.Line(sandbox.Spec{SkillDir: dir, Script: "tool"}, "/s", installed()); err == nil {
		t.Errorf("an executable text without shebang gives %q", line)
	}
}

func TestShellCommandLine(t *testing.T) {
	t.Parallel()
	spec := sandbox.Spec{Shell: "echo $X; exit"}
	for _, c := range []struct {
		look command.Lookup
		want []string
	}{
		{installed("bash", "sh"), []string{"/bin/bash", "--noprofile", "--norc", "-c", "--", "echo $X; exit"}},
		{installed("sh"), []string{"/bin/sh", "-c", "--", "echo $X; exit"}},
		{installed(), nil},
	} {
		line, err := command.Line(spec, "", c.look)
		if !slices.Equal(line, c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("got %q, %v, want %q", line, err, c.want)
		}
	}
}

func TestContradictorySpecs(t *testing.T) {
	t.Parallel()
	dir := writeScript(t, "a.sh", "", 0o644)
	for name, spec := range map[string]sandbox.Spec{
		"nothing":            {SkillDir: dir},
		"two ways":           {SkillDir: dir, Script: "a.sh", Shell: "x"},
		"arguments of shell": {SkillDir: dir, Shell: "x", Args: []string{"y"}},
		"no program name":    {SkillDir: dir, Argv: []string{"", "x"}},
		"no skill":           {Script: "a.sh"},
		"cwd without skill":  {Shell: "x", InSkill: true},
		"NUL in shell":       {SkillDir: dir, Shell: "a\x00b"},
		"NUL in argument":    {SkillDir: dir, Script: "a.sh", Args: []string{"\x00"}},
	} {
		_, err := command.Line(spec, dir, installed("sh", "x"))
		var setup *sandbox.SetupError
		if !errors.As(err, &setup) || setup.Rule != "spec-invalid" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMissingScriptNamesTheNearest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "scripts"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.py", "bb.py", "ccc.py", "convert.py", "report.sh", "validate.py", "zip.sh"} {
		if err := os.WriteFile(filepath.Join(dir, "scripts", name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := command.Line(sandbox.Spec{SkillDir: dir, Script: "validator.py"}, dir, installed())
	var setup *sandbox.SetupError
	if !errors.As(err, &setup) || setup.Rule != "script-missing" {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(setup.Hint, `first: "scripts/validate.py", `) || strings.Count(setup.Hint, "scripts/") != 5 {
		t.Errorf("the hint is %q", setup.Hint)
	}
}

// FuzzShebang holds that the choice of an interpreter never fails but by its
// rules, and that nothing from a script but its first line gets into it.
func FuzzShebang(f *testing.F) {
	seeds := []string{
		"#!/bin/sh\nx", "#!/usr/bin/env -S python3 -u\r\n", "#!", "#! \n", "#!/usr/bin/env\n", "#!/usr/bin/env -S\n",
		"#!/usr/bin/env --split-string=\n", "\ufeff#!/bin/sh", "#!\x00\n", "#!/", "#!//", "#!env -S a=b c", "text", "",
	}
	for _, seed := range seeds {
		f.Add(seed)
	}
	dir := f.TempDir()
	anything := func(name string) (string, bool) { return name, true }
	f.Fuzz(func(t *testing.T, content string) {
		if err := os.WriteFile(filepath.Join(dir, "script"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		line, err := command.Line(sandbox.Spec{SkillDir: dir, Script: "script", Args: []string{"arg"}}, "/skill", anything)
		var setup *sandbox.SetupError
		if errors.As(err, &setup) && setup.Rule == "interpreter-unknown" && setup.Hint != "" {
			return
		}
		if err != nil {
			t.Fatalf("fails with %v", err)
		}
		n := len(line)
		if n < 3 || line[n-2] != "/skill/script" || line[n-1] != "arg" {
			t.Fatalf("command line %q", line)
		}
		first, _, _ := strings.Cut(content, "\n")
		for _, word := range line[:n-2] {
			if word == "" || strings.ContainsAny(word, "\x00\r\n\t ") || !strings.Contains(first+" python3 node", word) {
				t.Fatalf("word %q of %q comes from elsewhere", word, line)
			}
		}
	})
}

func TestInterpreters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, content string
		want          []string
	}{
		{"a.py", "", []string{"python3", "python"}},
		{"a", "#!/usr/bin/env -S python -u\n", []string{"python", "python3"}},
		{"a.rb", "#!/opt/ruby/bin/ruby -w\n", []string{"/opt/ruby/bin/ruby", "ruby"}},
		{"a.bin", "\x7fELF", []string{}},
		{"a.txt", "text", nil},
	} {
		got, err := command.Interpreters(writeScript(t, c.name, c.content, 0o755), c.name)
		if diff := cmp.Diff(c.want, got); diff != "" || (err != nil) != (c.want == nil) {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
		}
	}
}
