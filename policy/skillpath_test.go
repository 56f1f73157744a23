package policy_test

import (
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/policy"
)

// ways are requests to run a command in the workspace where the skill's
// directory is known to be at /skill, and where it is not known.
func ways(command string) []policy.Request {
	known := policy.Request{Op: policy.OpShell, Command: command, SkillDir: "/skill"}
	unknown := known
	unknown.SkillDir = "$SKILL_DIR"
	return []policy.Request{known, unknown}
}

// Commands start in the workspace, where a skill's own path names a file that
// anybody may have written.
func TestSkillPathsAreTheSkillsOwn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		declared    string
		allow, deny []string
	}{
		{"Bash(scripts/x.py:*)",
			[]string{`"$SKILL_DIR/scripts/x.py"`, `"${SKILL_DIR}/scripts/x.py" a b`, `"$SKILL_DIR"/scripts/x.py`, `"$SKILL_DIR"'/scripts/x.py'`,
				`cd out && "$SKILL_DIR/scripts/x.py"`, `timeout 5 "$SKILL_DIR/scripts/x.py" | "$SKILL_DIR/scripts/x.py"`},
			[]string{"scripts/x.py", "./scripts/x.py a", "/workspace/scripts/x.py", "$WORKSPACE/scripts/x.py", `"$SKILL_DIR/scripts/y.py"`,
				"cd /workspace && scripts/x.py", "cd /skill && scripts/x.py", "../skill/scripts/x.py", "skill/scripts/x.py", "timeout 5 scripts/x.py",
				`"$SKILL_DIR/../workspace/scripts/x.py"`, `"$SKILL_DIR/./scripts/x.py"`, `"$SKILL_DIR//scripts/x.py"`, `"$SKILL_DIR/scripts/../scripts/x.py"`,
				`"$SKILL_DIR/Scripts/x.py"`, `"$SKILL_DIRscripts/x.py"`, `"${SKILL_DIR}scripts/x.py"`, `"$SKILL_DIR.bak/scripts/x.py"`, `'$SKILL_DIR/scripts/x.py'`,
				`"\$SKILL_DIR/scripts/x.py"`, `x"$SKILL_DIR/scripts/x.py"`, `""$SKILL_DIR/scripts/x.py`, `./"$SKILL_DIR/scripts/x.py"`, `python3 "$SKILL_DIR/scripts/x.py"`}},
		{"Bash(python3 scripts/x.py:*)",
			[]string{`python3 "$SKILL_DIR/scripts/x.py"`, `python3 "$SKILL_DIR/scripts/x.py" scripts/y.py`},
			[]string{"python3 scripts/x.py", "python3 ./scripts/x.py a", "python3 /workspace/scripts/x.py", "scripts/x.py", `"$SKILL_DIR/scripts/x.py"`,
				`python3 scripts/x.py "$SKILL_DIR/scripts/x.py"`}},
		{"Bash(python3.11 scripts/x.py out/a.csv)",
			[]string{`python3.11 "$SKILL_DIR/scripts/x.py" out/a.csv`, `python3.11 "$SKILL_DIR/scripts/x.py" "$SKILL_DIR/out/a.csv"`},
			[]string{"python3.11 scripts/x.py out/a.csv", `python3.11 "$SKILL_DIR/scripts/x.py" out/b.csv`}},
		{"Bash(bash build:*)", []string{`bash "$SKILL_DIR/build" a`}, []string{"bash build", "bash ./build a"}},
		{"Bash(node -r ./a.js x.js)", []string{`node -r "$SKILL_DIR/a.js" "$SKILL_DIR/x.js"`},
			[]string{"node -r ./a.js x.js", `node -r "$SKILL_DIR/a.js" x.js`, `node -r ./a.js "$SKILL_DIR/x.js"`}},
		{"Bash(node --import=./a.mjs x.mjs)", nil, []string{`node --import=./a.mjs "$SKILL_DIR/x.mjs"`}},
		{"Bash(python3 *.py)", []string{`python3 "$SKILL_DIR/x.py"`}, []string{"python3 x.py", `python3 "$SKILL_DIR/a/x.py"`}},
		{"Bash(python3 scripts/*.py *)", []string{`python3 "$SKILL_DIR/scripts/x.py" a`}, []string{"python3 scripts/x.py a", `python3 "$SKILL_DIR/scripts/a/x.py"`}},
		{"Bash(scripts/*:*)", []string{`"$SKILL_DIR/scripts/x"`}, []string{"scripts/x", `"$SKILL_DIR/scripts/sh"`}},
		{"Bash(./run:*)", []string{`"$SKILL_DIR/run"`}, []string{"./run", "run"}},
		{"Bash(*sh scripts/x.sh)", nil, []string{"mysh scripts/x.sh"}},
		{"Bash(* scripts/x.sh)", []string{`cat "$SKILL_DIR/scripts/x.sh"`}, []string{"cat scripts/x.sh", "perl scripts/x.sh"}},
		{"Bash(xargs scripts/x.sh)", []string{`xargs "$SKILL_DIR/scripts/x.sh"`}, []string{"xargs scripts/x.sh"}},
		{"Bash(uv run scripts/x.py:*)", []string{`uv run "$SKILL_DIR/scripts/x.py" --a`}, []string{"uv run scripts/x.py"}},
		{"Bash(source env.sh)", nil, []string{"source env.sh", `source "$SKILL_DIR/env.sh"`}},
		// These name no file of the skill, or the workspace's as well as it.
		{"Bash(npx @scope/name:*)", []string{"npx @scope/name a"}, nil},
		{"Bash(npx github:org/name)", []string{"npx github:org/name"}, nil},
		{"Bash(python3 /usr/lib/x.py)", []string{"python3 /usr/lib/x.py"}, nil},
		{"Bash(git log origin/main)", []string{"git log origin/main"}, nil},
		{"Bash(cat assets/a.csv)", []string{"cat assets/a.csv", `cat "$SKILL_DIR/assets/a.csv"`}, []string{`cat "$SKILL_DIR/a.csv"`}},
		{"Bash(ls *.txt)", []string{"ls a.txt"}, []string{`ls "$SKILL_DIR/a.csv"`}},
		{"Bash(ls:*)", []string{`ls "$SKILL_DIR"`, `ls "${SKILL_DIR}/"`}, nil},
		{`Bash(echo '$SKILL_DIR/x')`, []string{`echo '$SKILL_DIR/x'`}, []string{`echo "$SKILL_DIR/x"`}},
	}
	for _, test := range tests {
		grants := grant(t, test.declared, "Bash(cd:*)")
		for _, command := range test.allow {
			for _, request := range ways(command) {
				check(t, grants, request, policy.Allow)
			}
		}
		for _, command := range test.deny {
			for _, request := range ways(command) {
				check(t, grants, request, policy.Deny)
			}
		}
	}
}

func TestSkillDirInWords(t *testing.T) {
	t.Parallel()
	grants := grant(t, "Bash(scripts/x.py:*) Bash(python3 scripts/x.py:*) Bash(cd:*)")
	at := func(dir, command string) policy.Request {
		return policy.Request{Op: policy.OpShell, Command: command, SkillDir: dir}
	}
	for _, command := range []string{"$SKILL_DIR/scripts/x.py", "${SKILL_DIR}/scripts/x.py a", "python3 $SKILL_DIR/scripts/x.py"} {
		check(t, grants, at("/skill", command), policy.Allow)
		// bash would split these, or they may be anything.
		for _, dir := range []string{"", "$SKILL_DIR", "/my skills/x", "/a*b", "skill", "/a\u00a0b"} {
			got := check(t, grants, at(dir, command), policy.Deny)
			if got.Rule != "allowed-tools: shell syntax" {
				t.Errorf("%q at %q: %s", command, dir, got.Rule)
			}
		}
	}
	for _, command := range []string{"/skill/scripts/x.py a", "python3 '/skill/scripts/x.py'"} {
		check(t, grants, at("/skill", command), policy.Allow)
		check(t, grants, at("/skill/", command), policy.Allow)
		check(t, grants, at("", command), policy.Deny)
		check(t, grants, at("/skil", command), policy.Deny)
		check(t, grants, at("/", command), policy.Deny)
	}
	for _, command := range []string{"/skill/../skill/scripts/x.py", "/skill//scripts/x.py", "/skillscripts/x.py", "/SKILL/scripts/x.py", "//skill/scripts/x.py"} {
		check(t, grants, at("/skill", command), policy.Deny)
	}
}

func TestSkillPathsOfCommandsThatStartInTheSkill(t *testing.T) {
	t.Parallel()
	grants := grant(t, "Bash(scripts/x.py:*) Bash(python3 scripts/x.py:*) Bash(node --import=./a.mjs x.mjs) Bash(cd:*) Bash(command:*)")
	for _, command := range []string{"scripts/x.py", "./scripts/x.py a", "python3 scripts/x.py", "node --import=./a.mjs x.mjs"} {
		check(t, grants, shellInSkill(command), policy.Allow)
		for _, moved := range []string{"cd /workspace && ", "cd .. ; ", "command cd out || ", "cd scripts | "} {
			check(t, grants, shellInSkill(moved+command), policy.Deny)
		}
	}
	for _, command := range []string{"../workspace/scripts/x.py", "scripts/../scripts/x.py", "scripts//x.py", "Scripts/x.py"} {
		check(t, grants, shellInSkill(command), policy.Deny)
	}
}

// Nothing may change what $SKILL_DIR holds before it is used.
func TestSkillDirCannotBeSet(t *testing.T) {
	t.Parallel()
	grants := grant(t, "Bash(scripts/x.py:*) Bash(read:*) Bash(eval:*) Bash(printf:*) Bash(printf -v:*) Bash(declare:*) Bash(export:*) Bash(unset:*)",
		"Bash(trap:*) Bash(command read:*) Bash(builtin read:*) Bash(source:*) Bash(mapfile:*) Bash(getopts:*) Bash(wait -p:*)")
	const run = `"$SKILL_DIR/scripts/x.py"`
	for _, command := range []string{
		"read SKILL_DIR", "command read SKILL_DIR", "builtin read SKILL_DIR", `eval 'SKILL_DIR=/workspace'`, "printf -v SKILL_DIR /workspace", "unset SKILL_DIR",
		`trap 'SKILL_DIR=x' DEBUG`, "source env", "mapfile SKILL_DIR", "getopts a SKILL_DIR", "wait -p SKILL_DIR", `\declare SKILL_DIR=x`, `\export SKILL_DIR=x`,
	} {
		for _, program := range []string{command + "; " + run, run + " && " + command, command + " | " + run} {
			check(t, grants, shell(program), policy.Deny)
		}
		check(t, grants, shell(command), policy.Allow)
	}
	for _, program := range []string{"SKILL_DIR=/workspace " + run, "SKILL_DIR=/workspace; " + run, "export SKILL_DIR=/workspace; " + run} {
		check(t, grants, shell(program), policy.Deny)
	}
	check(t, grants, shell("printf x | "+run), policy.Allow)
}

func TestDenialsNameTheSpellingThatWorks(t *testing.T) {
	t.Parallel()
	grants := grant(t, "Bash(scripts/x.py:*) Bash(python3 scripts/x.py:*) Bash(bash build)")
	for command, want := range map[string]string{
		"scripts/x.py a":           `"$SKILL_DIR/scripts/x.py"`,
		"./scripts/x.py":           `"$SKILL_DIR/scripts/x.py"`,
		"timeout 5 scripts/x.py":   `"$SKILL_DIR/scripts/x.py"`,
		"python3 scripts/x.py a":   `"$SKILL_DIR/scripts/x.py"`,
		"bash build":               `"$SKILL_DIR/build"`,
		"python3 './scripts/x.py'": `"$SKILL_DIR/scripts/x.py"`,
	} {
		got := check(t, grants, shell(command), policy.Deny)
		if !strings.Contains(got.Hint, "Write "+want+" instead") {
			t.Errorf("%q: hint %q, want %s in it", command, got.Hint, want)
		}
		spelt := strings.Trim(want, `"`)
		for _, old := range []string{"'./scripts/x.py'", "./scripts/x.py", "scripts/x.py", "build"} {
			command = strings.Replace(command, old, `"`+spelt+`"`, 1)
			if strings.Contains(command, "SKILL_DIR") {
				break
			}
		}
		check(t, grants, shell(command), policy.Allow)
	}
	grants = grant(t, "Bash(node -r ./a.js ./b.js) Bash(source env.sh)")
	for _, command := range []string{"node -r ./a.js ./b.js", "source env.sh"} {
		if got := check(t, grants, shell(command), policy.Deny); !strings.Contains(got.Hint, "`cwd`: \"skill\"") {
			t.Errorf("%q: hint %q", command, got.Hint)
		}
		check(t, grants, shellInSkill(command), policy.Allow)
	}
	grants = grant(t, "Bash(scripts/x.py:*)")
	if got := check(t, grants, shell("scripts/y.py"), policy.Deny); strings.Contains(got.Hint, "SKILL_DIR") {
		t.Errorf("what no spelling allows is denied with %q", got.Hint)
	}
}

func TestTheSandboxsDirectoryIsNobodysToWrite(t *testing.T) {
	t.Parallel()
	everything := grant(t, "Bash(ls:*) Write Read")
	for _, target := range []string{".skills-mcp", ".skills-mcp/home/.bashrc", "./.skills-mcp/x", "'.skills-mcp'/x", `.skills\-mcp/x`, ".SKILLS-mcp/x", `".ſkills-mcp/x"`} {
		for _, operator := range []string{">", ">>", "<", "<>", "&>", "2>"} {
			got := check(t, everything, shell("ls "+operator+" "+target), policy.Deny)
			if got.Rule != "allowed-tools: redirect" && !strings.Contains(target, "ſ") {
				t.Errorf("%s %s: %s", operator, target, got.Rule)
			}
		}
	}
	for _, declared := range []string{
		"Write(.skills-mcp/**)", "Edit(./.skills-mcp/x)", "create_file(.Skills-MCP)", "Bash(cat .skills-mcp/x)", "Bash(.skills-mcp/x:*)", "Bash(/workspace/.skills-mcp/x:*)", "Bash(cp * '.skills-mcp'/home/*)",
	} {
		if grants, faults := policy.Parse([]string{declared}); len(faults) != 1 || len(grants.Entries()) > 0 {
			t.Errorf("%s: %v, faults %v", declared, grants, faults)
		}
	}
	check(t, everything, shell("ls > x/.skills-mcp"), policy.Allow)
	check(t, everything, read(".skills-mcp/output/1"), policy.Allow)
}

func TestSkillPathsOfTools(t *testing.T) {
	t.Parallel()
	grants := grant(t, "Bash(python3 scripts/x.py:*)")
	check(t, grants, tool("x", "scripts/x.py", "a"), policy.Allow)
	check(t, grants, tool("x", "python3", "scripts/x.py"), policy.Deny)
	inSkill := tool("x", "python3", "scripts/x.py")
	inSkill.InSkill = true
	check(t, grants, inSkill, policy.Allow)
}
