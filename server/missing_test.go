package server_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// needy makes a skill whose programs need what is not there. Whatever of it
// is run writes to the file of the mark.
func needy(t *testing.T, allowed string) (root, mark string) {
	t.Helper()
	root, mark = t.TempDir(), filepath.Join(t.TempDir(), "mark")
	evil := fmt.Sprintf("open(%q, 'a').write(__file__ + '\\n')\n", mark)
	for name, text := range map[string]string{
		"SKILL.md": "---\nname: needy\ndescription: Needs much.\n" + allowed + "---\nRun them.\n",
		"scripts/fetch.py": "#!/usr/bin/env python3\nimport json, os.path, absent_one.sub\nfrom absent_two import x\nfrom . import sibling\n" +
			"import mine\nimport pkg.inner\n" + evil,
		"scripts/lazy.py": "def main():\n    import absent_lazy\n" + evil,
		"scripts/choice.py": "try:\n    import absent_first\nexcept ImportError:\n    import json as absent_first\n" +
			"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import absent_types\n" + evil,
		"scripts/broken.py":      "import absent_broken\ndef (\n",
		"scripts/ast.py":         evil,
		"scripts/json.py":        evil,
		"scripts/absent_two.txt": "",
		"lib/mine.py":            evil,
		"lib/pkg/inner/x.py":     evil,
		"sitecustomize.py":       evil,
		"scripts/x.odd":          "#!/usr/bin/env absent-interpreter\n",
		"scripts/quoted.odd":     "#!/$(touch${IFS}marked)`touch${IFS}marked` -x\n",
		"scripts/fine.sh":        "exit 3\n",
		"assets/page.js":         "import x from 'absent-in-assets'",
		"nested/SKILL.md":        "---\nname: nested\ndescription: Another.\n---\n",
		"nested/run.py":          "import absent_nested",
		"tools.json":             `{"tools": [{"name": "dot", "description": "Draws.", "argv": ["absent-dot", "{x}"], "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}}}]}`,
	} {
		writeFile(t, filepath.Join(root, "needy", name), []byte(text))
	}
	return root, mark
}

// counted is a backend that counts its runs, and fails them where it should.
type counted struct {
	sandbox.Backend
	runs *atomic.Int64
	fail error
}

func (c counted) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	c.runs.Add(1)
	if c.fail != nil {
		return sandbox.Result{}, c.fail
	}
	return c.Backend.Run(ctx, spec)
}

func countedFixture(t *testing.T, root string, fail error, options ...string) (*fixture, *atomic.Int64) {
	runs := new(atomic.Int64)
	return newFixtureWith(t, root, func(plain sandbox.Backend) sandbox.Backend { return counted{plain, runs, fail} }, options...), runs
}

// TestActivationNamesWhatIsMissing: interpreters, modules and programs, by who
// needs them, without a line of the skill being run.
func TestActivationNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	needBash(t)
	needPython(t)
	root, mark := needy(t, "")
	f, runs := countedFixture(t, root, nil)
	c := f.connect(t)
	// What a run left in the workspace is not run either.
	c.exec(t, "needy", map[string]any{"command": `cp "$SKILL_DIR/scripts/json.py" json.py; cp json.py ast.py; cp json.py sitecustomize.py; printf 'exit 1' > node; chmod +x node`})
	ran := runs.Load()
	text := c.call(t, "activate", map[string]any{"name": "needy"}).text()
	if probes := runs.Load() - ran; probes != 1 {
		t.Errorf("%d programs were run to look", probes)
	}
	want := "Not in the sandbox: interpreter $(touch${IFS}marked)`touch${IFS}marked` (scripts/quoted.odd), interpreter absent-interpreter (scripts/x.odd), program absent-dot (dot), " +
		"python module absent_one (scripts/fetch.py), python module absent_two (scripts/fetch.py). " +
		"Perhaps needed, and not in the sandbox: python module absent_lazy (scripts/lazy.py). Do without"
	if !strings.Contains(text, want) {
		t.Errorf("no %q in:\n%s", want, text)
	}
	if marked, err := filepath.Glob(filepath.Join(f.workspaceBase, "*", "*", "marked")); err != nil || len(marked) > 0 {
		t.Errorf("a shebang line was run: %q, %v", marked, err)
	}
	if run, err := os.ReadFile(mark); err == nil {
		t.Errorf("of the skill was run:\n%s", run)
	}
	before := runs.Load()
	if again := c.call(t, "activate", map[string]any{"name": "needy"}).text(); again != text || runs.Load() != before {
		t.Errorf("an unchanged skill was looked at again, %d times:\n%s", runs.Load()-before, again)
	}
	writeFile(t, filepath.Join(root, "needy", "scripts", "fetch.py"), []byte("import absent_three\n"))
	if changed := c.call(t, "activate", map[string]any{"name": "needy"}).text(); !strings.Contains(changed, "python module absent_three (scripts/fetch.py)") || strings.Contains(changed, "absent_one") {
		t.Errorf("a changed skill was not looked at again:\n%s", changed)
	}
}

// packaged is a backend whose Python finds packages in a directory, after the
// skill's own modules.
type packaged struct {
	sandbox.Backend
	dir string
}

func (p packaged) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	spec.Env = map[string]string{"PYTHONPATH": spec.SkillDir + string(os.PathListSeparator) + p.dir}
	return p.Backend.Run(ctx, spec)
}

// TestActivationKnowsPackagesOfTheUser: what scripts find by PYTHONPATH is there,
// and not run.
func TestActivationKnowsPackagesOfTheUser(t *testing.T) {
	t.Parallel()
	needBash(t)
	needPython(t)
	root, mark := needy(t, "")
	dir, evil := t.TempDir(), fmt.Sprintf("open(%q, 'a')\n", mark)
	for _, name := range []string{"absent_one/sub.py", "absent_one/__init__.py", "sitecustomize.py", "ast.py"} {
		writeFile(t, filepath.Join(dir, name), []byte(evil))
	}
	f := newFixtureWith(t, root, func(plain sandbox.Backend) sandbox.Backend { return packaged{plain, dir} })
	text := f.connect(t).call(t, "activate", map[string]any{"name": "needy"}).text()
	if strings.Contains(text, "absent_one") || !strings.Contains(text, "python module absent_two (scripts/fetch.py)") {
		t.Errorf("activated as\n%s", text)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a package was run")
	}
}

// TestProbeRunsNoInterpreterOfTheSkill: not one that a shebang line names where
// anybody could have put it.
func TestProbeRunsNoInterpreterOfTheSkill(t *testing.T) {
	t.Parallel()
	needBash(t)
	root, mark := t.TempDir(), filepath.Join(t.TempDir(), "mark")
	dir := t.TempDir()
	evil := []byte("#!/bin/sh\n: > '" + mark + "'\n")
	must(t, os.WriteFile(filepath.Join(dir, "python3"), evil, 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "node"), evil, 0o755))
	writeFile(t, filepath.Join(root, "needy", "SKILL.md"), []byte("---\nname: needy\ndescription: Needs much.\n---\n"))
	for name, line := range map[string]string{
		"a.py": dir + "/python3", "b.js": dir + "/node", "c.py": "/usr/../" + dir + "/python3", "d.py": "./python3", "e.py": "x/python3",
	} {
		writeFile(t, filepath.Join(root, "needy", name), []byte("#!"+line+"\nimport absent\n"))
	}
	c := newFixture(t, root).connect(t)
	c.exec(t, "needy", map[string]any{"command": "mkdir x; cp " + dir + "/python3 .; cp " + dir + "/python3 x"})
	if a := c.call(t, "activate", map[string]any{"name": "needy"}); a.IsError {
		t.Error(a.text())
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it was run")
	}
}

// TestActivationNamesMissingPackages: those of Node.js.
func TestActivationNamesMissingPackages(t *testing.T) {
	t.Parallel()
	needBash(t)
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node")
	}
	root, mark := t.TempDir(), filepath.Join(t.TempDir(), "mark")
	evil := fmt.Sprintf("require('fs').writeFileSync(%q, '')\n", mark)
	for name, text := range map[string]string{
		"SKILL.md":                                       "---\nname: needy\ndescription: Needs much.\n---\n",
		"scripts/node_modules/there/index.js":            evil,
		"node_modules/@scope/present/lib/index.js":       evil,
		"package.json":                                   `{"name": "self", "type": "commonjs"}`,
		"scripts/mine.js":                                evil,
		"scripts/module.mjs":                             "import fs, {\n  constants } from 'node:fs'\nimport a from \"absent-a\"; import '@absent/b/sub'\nexport * from 'there'\nimport type { T } from 'absent-type'\nimport c from './mine.js'\nimport d from '#d'\nimport e from '@/e'\n",
		"scripts/common.cjs":                             evil + "const { x } = require('absent-c'), p = require('path')\n// require('absent-comment')\n/* require('absent-block') */\nconst s = \"require('absent-string')\", t = `import 'absent-template'`, r = /['\"]/\ntry { require('absent-optional') } catch {}\nrequire('@scope/present'); require('self')\nimport('absent-lazy')\n",
		"scripts/" + strings.Repeat("deep/", 5) + "x.js": "require('there')",
	} {
		writeFile(t, filepath.Join(root, "needy", name), []byte(text))
	}
	c := newFixture(t, root).connect(t)
	text := c.call(t, "activate", map[string]any{"name": "needy"}).text()
	want := "Not in the sandbox: node package @absent/b (scripts/module.mjs), node package absent-a (scripts/module.mjs), node package absent-c (scripts/common.cjs), node package absent-lazy (scripts/common.cjs). " +
		"Perhaps needed, and not in the sandbox: node package absent-optional (scripts/common.cjs). Do"
	if !strings.Contains(text, want) {
		t.Errorf("no %q in:\n%s", want, text)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("of the skill was run")
	}
}

// TestNothingIsProbedThatMayNotRun, or that has no programs.
func TestNothingIsProbedThatMayNotRun(t *testing.T) {
	t.Parallel()
	needBash(t)
	for name, trial := range map[string]struct {
		allowed string
		options []string
		runs    bool
	}{
		"nothing declared":       {"", nil, true},
		"only reading":           {"allowed-tools: Read Write\n", nil, false},
		"nothing":                {"allowed-tools: []\n", nil, false},
		"a tool":                 {"allowed-tools: Read dot\n", nil, true},
		"a command":              {"allowed-tools: Bash(git:*)\n", nil, true},
		"only reading, not held": {"allowed-tools: Read\n", []string{"allowed-tools=log"}, true},
		"off":                    {"", []string{"sandbox=off"}, false},
	} {
		root, _ := needy(t, trial.allowed)
		f, runs := countedFixture(t, root, nil, trial.options...)
		c := f.connect(t)
		text := c.call(t, "activate", map[string]any{"name": "needy"}).text()
		if probed := runs.Load() > 0; probed != trial.runs || strings.Contains(text, "Not in the sandbox") != trial.runs {
			t.Errorf("%s: probed %v, want %v:\n%s", name, probed, trial.runs, text)
		}
	}
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "note", "SKILL.md"), []byte(noteSkill))
	writeFile(t, filepath.Join(root, "note", "guide.md"), []byte("import absent"))
	f, runs := countedFixture(t, root, nil)
	if f.connect(t).call(t, "activate", map[string]any{"name": "note"}); runs.Load() > 0 {
		t.Error("a skill without programs was probed")
	}
}

// TestProbeFails: then nothing is said, and it is tried again.
func TestProbeFails(t *testing.T) {
	t.Parallel()
	needBash(t)
	root, _ := needy(t, "")
	f, runs := countedFixture(t, root, errors.New("broken"))
	c := f.connect(t)
	for want := int64(1); want <= 2; want++ {
		a := c.call(t, "activate", map[string]any{"name": "needy"})
		if a.IsError || strings.Contains(a.text(), "Not in the sandbox") || runs.Load() != want {
			t.Errorf("after %d runs: %s", runs.Load(), a.text())
		}
	}
}

// TestFailedRunNamesWhatIsMissing: of the script that was run, also where
// nobody activated the skill; and nothing where that is not the reason.
func TestFailedRunNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	needBash(t)
	needPython(t)
	root, _ := needy(t, "")
	c := newFixture(t, root).connect(t)
	const missing = "Not in the sandbox: python module absent_one (scripts/fetch.py), python module absent_two (scripts/fetch.py)."
	for name, trial := range map[string]struct {
		arguments map[string]any
		want      string
	}{
		"the script":            {script("scripts/fetch.py"), missing},
		"a command with it":     {map[string]any{"command": `python3 "$SKILL_DIR/scripts/fetch.py"`}, missing},
		"another script":        {script("scripts/fine.sh"), ""},
		"another command":       {map[string]any{"command": "exit 1"}, ""},
		"one that need not":     {script("scripts/choice.py"), ""},
		"one that does without": {script("scripts/lazy.py"), ""},
	} {
		run := c.exec(t, "needy", trial.arguments)
		if !strings.HasSuffix(run.Error.Hint, trial.want) || trial.want == "" && strings.Contains(run.Error.Hint, "sandbox") {
			t.Errorf("%s: the hint is %q, want %q", name, run.Error.Hint, trial.want)
		}
	}
	before := strings.Count(c.transcript(), missing)
	c.ask(t, "tools/call", map[string]any{
		"name": "exec", "arguments": map[string]any{"name": "needy", "script": "scripts/fetch.py"}, "_meta": map[string]any{"progressToken": "p"},
	})
	told := c.transcript()
	if i := strings.LastIndex(told, `"notifications/progress"`); i < 0 || !strings.Contains(told, `"message":"`+missing) || strings.Count(told, missing) == before {
		t.Errorf("no progress told of it before the run: %s", told)
	}
}

// TestProbeThatHangs: what an interpreter is too slow for is looked for once, and
// hides nothing of what is known.
func TestProbeThatHangs(t *testing.T) {
	t.Parallel()
	needBash(t)
	root, _ := needy(t, "")
	var probes atomic.Int64
	f := newFixtureWith(t, root, func(plain sandbox.Backend) sandbox.Backend {
		return hanging{plain, &probes}
	})
	c := f.connect(t)
	for range 2 {
		text := c.call(t, "activate", map[string]any{"name": "needy"}).text()
		if want := "Not in the sandbox: interpreter absent-interpreter (scripts/x.odd), program absent-dot (dot). Do without"; !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if probes.Load() != 1 {
		t.Errorf("it was looked for %d times", probes.Load())
	}
}

// hanging is a backend in which no interpreter answers in time.
type hanging struct {
	sandbox.Backend
	probes *atomic.Int64
}

func (h hanging) Run(context.Context, sandbox.Spec) (sandbox.Result, error) {
	h.probes.Add(1)
	said := []byte("program\tabsent-interpreter\nprogram\tabsent-dot\n\npython module\t[{\"scr")
	return sandbox.Result{Status: sandbox.TimedOut, ExitCode: -1, Stdout: sandbox.Output{Data: said, Total: int64(len(said))}}, nil
}
