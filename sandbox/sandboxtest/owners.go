package sandboxtest

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

// owners are the versions of skills whose programs share a workspace.
func owners() []contract {
	return []contract{
		{name: "owners-apart", test: testOwners},
		{name: "owners-out-of-reach", test: testOwnersReach},
		{name: "owners-not-to-be-guessed", test: testOwnersNames},
		{name: "owners-keep-their-home", test: testOwnersHome},
		{name: "owners-python", test: testOwnersPython},
		{name: "python-path", test: testPythonPath},
	}
}

const listHome = `ls -A "$HOME" "$TMPDIR" && echo "$HOME"`

// One owner's HOME and TMPDIR are no other's, nor those of programs of none.
func testOwners(t *testing.T, f *fixture) {
	shared := sandbox.Spec{Workspace: t.TempDir(), Private: t.TempDir()}
	for _, owner := range []string{"a\n1", "a\n2", "b\n1", ""} {
		mine := shared
		mine.Owner, mine.Shell = owner, listHome+` && echo planted | tee "$HOME/.npmrc" "$HOME/.gitconfig" "$TMPDIR/planted"`
		if out := f.succeed(t, mine); strings.Count(out, "planted") != 1 || strings.Contains(out, ".npmrc") {
			t.Errorf("%q finds %q", owner, out)
		}
	}
}

// A program that knows where another owner's HOME and the saved outputs are on
// the host reaches neither, whatever their modes.
func testOwnersReach(t *testing.T, f *fixture) {
	shared := sandbox.Spec{Workspace: t.TempDir(), Private: t.TempDir()}
	victim := shared
	victim.Owner, victim.Shell = "victim", `echo secret > "$HOME/secret"; chmod 777 "$HOME/.." "$HOME"; chmod 666 "$HOME/secret"; echo more than ten bytes`
	victim.Limits.OutputBytes = 10
	saved := f.run(t, victim)
	expectExit(t, saved, 0)
	attack := shared
	attack.Owner = "attacker"
	attack.Env = map[string]string{
		"THEIRS": filepath.Join(scratch.Owned(victim), scratch.Home),
		"SAVED":  filepath.Join(shared.Private, sandbox.SavedDir, saved.Stdout.Spill),
		"ALL":    shared.Private,
	}
	attack.Shell = `cat "$THEIRS/secret" "$SAVED"; ls "$THEIRS" "$ALL"; echo forged > "$THEIRS/.gitconfig"; echo forged >> "$SAVED"
		mv "$THEIRS" "$HOME/theirs"; ln "$THEIRS/secret" "$HOME/linked"; find / -name secret -type f 2> /dev/null; ls -A "$HOME"`
	if out := f.succeed(t, attack); out != "" {
		t.Errorf("the attacker reads %q", out)
	}
	victim.Shell = `ls -A "$HOME"`
	if out := f.succeed(t, victim); out != "" && out != "secret\n" { // none where it ends with the run
		t.Errorf("afterwards the victim has %q", out)
	}
}

// What is known of an owner does not tell where its HOME is: where the file
// system is the server's, whoever knows could look up files and change modes.
func testOwnersNames(t *testing.T, f *fixture) {
	victim := sandbox.Spec{Workspace: t.TempDir(), Private: t.TempDir(), Owner: "victim", Shell: `basename "$(dirname "$HOME")"`}
	name := strings.TrimSpace(f.succeed(t, victim))
	victim.Workspace, victim.Private, victim.Shell = t.TempDir(), t.TempDir(), `true`
	f.succeed(t, victim)
	attack := victim
	attack.Owner, attack.Env = "attacker", map[string]string{"NAME": name}
	attack.Shell = `own="$(basename "$(dirname "$HOME")")" # the same for all in a file system of one's own
		if test "$NAME" != "$own" && chmod 0 "$HOME/../../$NAME/home"; then echo found; fi 2> /dev/null`
	if out := f.succeed(t, attack); out != "" {
		t.Errorf("the attacker has %q", out)
	}
}

// What a program leaves in its HOME is there in its owner's next run.
func testOwnersHome(t *testing.T, f *fixture) {
	spec := sandbox.Spec{Workspace: t.TempDir(), Private: t.TempDir(), Owner: "a", Shell: `echo kept > "$HOME/kept"`}
	f.succeed(t, spec)
	spec.Shell = `cat "$HOME/kept"`
	if out := f.succeed(t, spec); out != "kept\n" {
		t.Errorf("in the next run it reads %q", out)
	}
}

// requirePython skips the test where there is no Python, unless it is required.
func requirePython(t *testing.T, f *fixture) {
	t.Helper()
	_, err := f.backend.Run(t.Context(), sandbox.Spec{Argv: []string{"python3", "-c", ""}, Workspace: t.TempDir()})
	if setup := new(sandbox.SetupError); errors.As(err, &setup) && setup.Rule == "program-missing" {
		testenv.Need(t, "python", err)
	}
}

// Nothing that a program plants in its HOME is run by Python of itself, be it
// another owner's or its own.
func testOwnersPython(t *testing.T, f *fixture) {
	requirePython(t, f)
	spec := sandbox.Spec{Workspace: t.TempDir(), Private: t.TempDir(), Owner: "a"}
	spec.Shell = `site="$(python3 -m site --user-site)"; mkdir -p "$site" && echo 'print("planted")' | tee "$site/usercustomize.py" > "$site/sitecustomize.py"`
	f.run(t, spec)
	spec.Shell = `python3 -c 'print("clean")'`
	for _, owner := range []string{"a", "b"} {
		spec.Owner = owner
		if out := f.succeed(t, spec); out != "clean\n" {
			t.Errorf("Python of %s says %q", owner, out)
		}
	}
}

// Python finds modules in the skill's directory, wherever it starts. A script
// finds none in the workspace.
func testPythonPath(t *testing.T, f *fixture) {
	requirePython(t, f)
	spec := sandbox.Spec{
		SkillDir: skill(t, map[string]string{
			"core/x.py":      "y = 'of the skill'\n",
			"scripts/run.py": "from core.x import y\nimport json\nprint(y)\n",
		}),
		Workspace: t.TempDir(),
	}
	f.succeed(t, sandbox.Spec{
		Workspace: spec.Workspace,
		Shell:     `mkdir core && echo 'y = "planted"' | tee json.py core/x.py core/__init__.py > sitecustomize.py && echo 'print("planted")' >> json.py`,
	})
	for _, start := range []sandbox.Spec{
		{Script: "scripts/run.py"},
		{Script: "scripts/run.py", InSkill: true},
		{Shell: `python3 "$SKILL_DIR/scripts/run.py"`},
		{Shell: `python3 -m scripts.run`, InSkill: true},
		{Shell: `cd "$HOME" && python3 -m scripts.run`},
	} {
		start.SkillDir, start.Workspace = spec.SkillDir, spec.Workspace
		if out := f.succeed(t, start); out != "of the skill\n" {
			t.Errorf("%s%s says %q", start.Script, start.Shell, out)
		}
	}
}
