package sandboxtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// scripts are the choice of an interpreter, and its faults.
func scripts() []contract {
	return []contract{
		{name: "script-interpreters", test: testInterpreters},
		{name: "script-native", test: testNative},
		{name: "script-python", test: testPython},
		{name: "script-faults", test: testScriptFaults},
		{name: "directories-missing", test: testDirectoriesMissing},
	}
}

func testInterpreters(t *testing.T, f *fixture) {
	const positional = `echo "$0:$#:$1"` + "\n"
	for _, file := range some(f, []struct{ name, content string }{
		{"deep/ä b/in.sh", positional},
		{"shebang-elsewhere", "#!/no/such/directory/sh\n" + positional},
		{"shebang-env", "#!/usr/bin/env sh\n" + positional},
		{"extension.sh", positional},
		{"shebang", "#!/bin/sh\n" + positional},
		{"shebang-split", "#!/usr/bin/env -S sh -u\n" + positional},
		{"shebang-crlf", "#!/bin/sh\r\n" + positional},
		{"shebang-wins.py", "#!/bin/sh -e\n" + positional},
		{"shebang-assignment", "#!/usr/bin/env -S A=b sh\n" + positional},
	}) {
		name := file.name
		dir := skill(t, map[string]string{name: file.content})
		result := f.run(t, sandbox.Spec{SkillDir: dir, Script: name, Args: []string{"x y"}})
		expectExit(t, result, 0)
		out := strings.TrimSuffix(string(result.Stdout.Data), "\n")
		if !strings.HasSuffix(out, "/"+name+":1:x y") {
			t.Errorf("%s wrote %q", name, out)
		}
	}
}

func testNative(t *testing.T, f *fixture) {
	for program, code := range map[string]int{"true": 0, "false": 1} {
		file, err := exec.LookPath(program)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		dir := skill(t, map[string]string{"bin/tool": string(content)})
		_, err = f.backend.Run(t.Context(), sandbox.Spec{SkillDir: dir, Script: "bin/tool", Workspace: t.TempDir()})
		expectSetupError(t, err, "interpreter-unknown", "bin/tool") // not executable
		if err := os.Chmod(filepath.Join(dir, "bin/tool"), 0o755); err != nil {
			t.Fatal(err)
		}
		expectExit(t, f.run(t, sandbox.Spec{SkillDir: dir, Script: "bin/tool"}), code)
	}
}

func testPython(t *testing.T, f *fixture) {
	requirePython(t, f)
	const program = "import sys; print('größe', sys.argv[1:], flush=True); sys.exit(7)\n"
	for _, file := range some(f, []struct{ name, content string }{
		{"run.py", program},
		{"old-name", "#!/usr/bin/python\n" + program},
		{"run", "#!/usr/bin/env python3\n" + program},
		{"unbuffered", "#!/usr/bin/env -S python3 -u\n" + program},
		{"bom-and-crlf.py", "\ufeff#!/usr/bin/env python3\r\n" + program},
	}) {
		name := file.name
		dir := skill(t, map[string]string{name: file.content})
		result := f.run(t, sandbox.Spec{SkillDir: dir, Script: name, Args: []string{"a b"}})
		expectExit(t, result, 7)
		if want := "größe ['a b']\n"; string(result.Stdout.Data) != want {
			t.Errorf("%s wrote %q, want %q", name, result.Stdout.Data, want)
		}
	}
}

func testScriptFaults(t *testing.T, f *fixture) {
	dir := skill(t, map[string]string{
		"scripts/report.py": "",
		"scripts/data":      "just text",
		"scripts/alien":     "#!/usr/bin/env no-such-interpreter\n",
		"scripts/native.xy": "\x7fELF without x-bit",
	})
	if err := os.Symlink("/bin/sh", filepath.Join(dir, "scripts/out.sh")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ script, rule, says, hints string }{
		{"scripts/reprot.py", "script-missing", "scripts/reprot.py", `"scripts/report.py"`},
		{"report.py", "script-missing", "report.py", `"scripts/report.py"`},
		{"scripts/out.sh", "script-missing", "scripts/out.sh", "scripts/"},
		{"../x.sh", "script-missing", "../x.sh", "relative"},
		{"/bin/sh", "script-missing", "/bin/sh", "relative"},
		{"scripts/../scripts/report.py", "script-missing", "", "relative"},
		{"scripts", "script-not-file", "scripts", `"scripts/report.py"`},
		{"scripts/data", "interpreter-unknown", "scripts/data", "interpreter"},
		{"scripts/native.xy", "interpreter-unknown", "scripts/native.xy", "interpreter"},
		{"scripts/alien", "interpreter-missing", "no-such-interpreter", "no-such-interpreter"},
	} {
		workspace := t.TempDir()
		_, err := f.backend.Run(t.Context(), sandbox.Spec{SkillDir: dir, Script: c.script, Workspace: workspace})
		setup := expectSetupError(t, err, c.rule, c.says)
		if setup == nil {
			continue
		}
		if !strings.Contains(setup.Hint, c.hints) {
			t.Errorf("the hint for %q is %q, without %q", c.script, setup.Hint, c.hints)
		}
		if text := setup.Message + setup.Hint; strings.Contains(text, dir) || strings.Contains(text, workspace) {
			t.Errorf("the error for %q shows a host path: %q", c.script, text)
		}
	}
}

func testDirectoriesMissing(t *testing.T, f *fixture) {
	gone := filepath.Join(t.TempDir(), "gone")
	_, err := f.backend.Run(t.Context(), sandbox.Spec{Shell: "true", Workspace: gone})
	expectSetupError(t, err, "workspace-missing", "workspace")
	_, err = f.backend.Run(t.Context(), sandbox.Spec{Shell: "true", InSkill: true, SkillDir: gone, Workspace: t.TempDir()})
	expectSetupError(t, err, "skill-missing", "skill")
	_, err = f.backend.Run(t.Context(), sandbox.Spec{Script: "x.sh", SkillDir: gone, Workspace: t.TempDir()})
	expectSetupError(t, err, "skill-missing", "skill")
}

// expectSetupError expects an error of a rule that says something.
func expectSetupError(t *testing.T, err error, rule, says string) *sandbox.SetupError {
	t.Helper()
	var setup *sandbox.SetupError
	switch {
	case !errors.As(err, &setup):
		t.Errorf("error is %v, want a SetupError %s", err, rule)
		return nil
	case setup.Rule != rule || !strings.Contains(setup.Message, says):
		t.Errorf("error is %s: %q, want %s with %q", setup.Rule, setup.Message, rule, says)
	case setup.Hint == "":
		t.Errorf("error %s has no hint", setup.Rule)
	}
	return setup
}
