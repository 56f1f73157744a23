package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// adviceTrial is a command that fails, unless it is the one of success, and
// what the failure's hint says.
type adviceTrial struct {
	skill, command, cwd string
	want                string
}

const (
	started  = " is in the skill's directory, but the command started in the workspace: "
	byScript = started + "run it with `script`: \"scripts/x.sh\" and `args`, or "
)

var adviceTrials = map[string]adviceTrial{
	"a script":                {"free", "sh scripts/x.sh a", "", "scripts/x.sh" + byScript + `write "$SKILL_DIR/scripts/x.sh".`},
	"dotted":                  {"free", "sh ./scripts//x.sh", "", "scripts/x.sh" + byScript + `write "$SKILL_DIR/scripts/x.sh".`},
	"its own program":         {"free", "./scripts/x.sh", "", "scripts/x.sh" + byScript + `write "$SKILL_DIR/scripts/x.sh".`},
	"quoted":                  {"free", `sh "scripts/"'x.sh'; exit 2`, "", "scripts/x.sh" + byScript + `write "$SKILL_DIR/scripts/x.sh".`},
	"with blanks":             {"free", `sh "scripts/a b's.sh"`, "", `write "$SKILL_DIR/scripts/a b's.sh".`},
	"escaped":                 {"free", `sh scripts/a\ b\'s.sh`, "", `write "$SKILL_DIR/scripts/a b's.sh".`},
	"data":                    {"free", "cat<assets/data.csv", "", "assets/data.csv" + started + `write "$SKILL_DIR/assets/data.csv".`},
	"data after equals":       {"free", "sort --files0-from=assets/data.csv", "", "assets/data.csv" + started + `write "$SKILL_DIR/assets/data.csv".`},
	"a directory":             {"free", "cd scripts && sh x.sh", "", "scripts" + started + `write "$SKILL_DIR/scripts".`},
	"two":                     {"free", "sh scripts/x.sh assets/data.csv", "", `. assets/data.csv` + started},
	"as the skill may":        {"bound", "sh scripts/x.sh", "", "scripts/x.sh" + byScript + `write "$SKILL_DIR/scripts/x.sh".`},
	"data as it may":          {"bound", "cat assets/data.csv", "", "assets/data.csv" + started + `write "$SKILL_DIR/assets/data.csv".`},
	"a dollar sign":           {"free", "cat 'assets/a$b'", "", "start the command with `cwd`: \"skill\"."},
	"success":                 {"free", "sh scripts/x.sh a; true", "", ""},
	"in the skill":            {"free", "sh scripts/x.sh none", "skill", ""},
	"the whole path":          {"free", `sh "$SKILL_DIR/scripts/x.sh" none`, "", ""},
	"another directory":       {"free", `cd "$SKILL_DIR" && sh scripts/x.sh none`, "", ""},
	"another failure":         {"free", "echo no; exit 3", "", ""},
	"a file of the workspace": {"free", "echo exit 4 > run; sh run", "", ""},
	"out of the skill":        {"free", "cat ../bound/SKILL.md", "", ""},
	"killed":                  {"free", "kill -9 $$ scripts/x.sh", "", ""},
}

// TestAdviceOnRelativePaths: a command that fails for a path of the skill,
// though it started in the workspace, is told the way to it; no other is.
func TestAdviceOnRelativePaths(t *testing.T) {
	t.Parallel()
	needBash(t)
	root := t.TempDir()
	for name, text := range map[string]string{
		"free/SKILL.md":         "---\nname: free\ndescription: Free.\n---\n",
		"free/scripts/x.sh":     "cat \"$1\"\n",
		"free/scripts/a b's.sh": "exit 0\n",
		"free/assets/data.csv":  "1\n",
		"free/assets/a$b":       "1\n",
		"free/run":              "",
		"bound/SKILL.md":        "---\nname: bound\ndescription: Bound.\nallowed-tools: Bash(sh:*) Bash(cat:*)\n---\n",
		"bound/scripts/x.sh":    "exit 0\n",
		"bound/assets/data.csv": "1\n",
	} {
		writeFile(t, filepath.Join(root, name), []byte(text))
	}
	c := newFixture(t, root).connect(t)
	for name, trial := range adviceTrials {
		arguments := map[string]any{"command": trial.command}
		if trial.cwd != "" {
			arguments["cwd"] = trial.cwd
		}
		run := c.exec(t, trial.skill, arguments)
		if (run.Error.Code == "") != (name == "success") {
			t.Fatalf("%s: %+v", name, run)
		}
		if !strings.Contains(run.Error.Hint, trial.want) || trial.want == "" && strings.Contains(run.Error.Hint, "skill's directory") {
			t.Errorf("%s: the hint is %q, want %q", name, run.Error.Hint, trial.want)
		}
		if strings.Contains(run.Error.Hint, os.TempDir()) {
			t.Errorf("%s: the hint shows a host path: %q", name, run.Error.Hint)
		}
	}
}

// TestWorkspaceFilesAreNotTheSkillsOwn: what another skill left in the
// workspace under the path that a skill's allowed-tools list is not run for it.
func TestWorkspaceFilesAreNotTheSkillsOwn(t *testing.T) {
	t.Parallel()
	needBash(t)
	root := t.TempDir()
	for name, text := range map[string]string{
		"hostile/SKILL.md":          "---\nname: hostile\ndescription: Hostile.\n---\n",
		"granted/SKILL.md":          "---\nname: granted\ndescription: Granted.\nallowed-tools: Bash(scripts/report.sh:*) Bash(sh scripts/report.sh:*)\n---\n",
		"granted/scripts/report.sh": "#!/bin/sh\necho own\n",
	} {
		writeFile(t, filepath.Join(root, name), []byte(text))
	}
	if err := os.Chmod(filepath.Join(root, "granted", "scripts", "report.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := newFixture(t, root).connect(t)
	planted := c.exec(t, "hostile", map[string]any{"command": "mkdir -p scripts && printf '#!/bin/sh\\necho planted\\n' > scripts/report.sh && chmod +x scripts/report.sh"})
	if planted.Error.Code != "" {
		t.Fatalf("planting: %+v", planted)
	}
	for _, command := range []string{"scripts/report.sh", "./scripts/report.sh a", "sh scripts/report.sh", "cd . && scripts/report.sh"} {
		a := c.call(t, "exec", map[string]any{"name": "granted", "command": command})
		if a.code() != "permission_denied" {
			t.Errorf("%s: %s", command, a.text())
		}
	}
	if a := c.call(t, "exec", map[string]any{"name": "granted", "command": "scripts/report.sh"}); !strings.Contains(a.text(), `Write "$SKILL_DIR/scripts/report.sh" instead`) {
		t.Errorf("the denial names no spelling that works: %s", a.text())
	}
	for _, arguments := range []map[string]any{
		{"script": "scripts/report.sh"}, {"command": `"$SKILL_DIR/scripts/report.sh"`}, {"command": `sh "$SKILL_DIR/scripts/report.sh" a`}, {"command": "scripts/report.sh", "cwd": "skill"},
	} {
		if run := c.exec(t, "granted", arguments); run.Error.Code != "" || run.Stdout != "own\n" {
			t.Errorf("%v: %+v", arguments, run)
		}
	}
}

// TestPrivateDirectoryIsThePolicysToo: the policy cannot import the name.
func TestPrivateDirectoryIsThePolicysToo(t *testing.T) {
	t.Parallel()
	decision := policy.Policy{}.Decide(nil, policy.Request{Op: policy.OpWrite, Path: sandbox.PrivateDir + "/x"})
	if decision.Effect != policy.Deny {
		t.Errorf("%s may be written: %+v", sandbox.PrivateDir, decision)
	}
}
