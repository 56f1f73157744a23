package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/policy"
)

// grant parses a declaration that must have no fault.
func grant(t testing.TB, declared ...string) *policy.Grants {
	t.Helper()
	grants, faults := policy.Parse(declared)
	if len(faults) > 0 {
		t.Fatalf("Parse(%q): faults %v", declared, faults)
	}
	return grants
}

// check decides a request and holds the answer against what is expected of
// every decision.
func check(t testing.TB, grants *policy.Grants, request policy.Request, want policy.Effect) policy.Decision {
	t.Helper()
	got := policy.Policy{}.Decide(grants, request)
	if got.Effect != want {
		t.Errorf("with %v, %+v: %v (%s: %s), want %v", grants, request, got.Effect, got.Rule, got.Reason, want)
	}
	if got.Rule == "" || got.Reason == "" {
		t.Errorf("%+v: no rule or reason in %+v", request, got)
	}
	if (got.Effect == policy.Deny) != (got.Hint != "") {
		t.Errorf("%+v: a hint belongs to denials, and to them alone: %+v", request, got)
	}
	for _, text := range []string{got.Rule, got.Reason, got.Hint} {
		if len(text) > 1024 || strings.ContainsAny(text, "\n\r\x00") {
			t.Errorf("%+v: not one short line: %q", request, text)
		}
	}
	return got
}

func shell(command string) policy.Request {
	return policy.Request{Op: policy.OpShell, Command: command}
}

// shellInSkill is a command that starts in the skill's directory.
func shellInSkill(command string) policy.Request {
	return policy.Request{Op: policy.OpShell, Command: command, InSkill: true}
}

func script(argv ...string) policy.Request {
	return policy.Request{Op: policy.OpScript, Argv: argv}
}

func tool(name string, argv ...string) policy.Request {
	return policy.Request{Op: policy.OpTool, Tool: name, Argv: argv}
}

func read(path string) policy.Request {
	return policy.Request{Op: policy.OpRead, Path: path}
}

func edit(path string) policy.Request {
	return policy.Request{Op: policy.OpEdit, Path: path}
}

func program(argv ...string) policy.Request {
	return policy.Request{Op: policy.OpProgram, Argv: argv}
}

func write(path string) policy.Request {
	return policy.Request{Op: policy.OpWrite, Path: path}
}

// anything is one request of each operation.
var anything = []policy.Request{
	read("."), read("references/a.md"), write("out.txt"), script("scripts/x.py", "a"),
	shell("ls $(pwd) > /tmp/x"), tool("lint", "scripts/lint.sh"),
}

func TestWithoutDeclarationTheDefaultAllows(t *testing.T) {
	t.Parallel()
	for _, request := range anything {
		got := check(t, nil, request, policy.Allow)
		if got.Rule != "allowed-tools: default" || got.Logged {
			t.Errorf("%+v: %+v", request, got)
		}
	}
}

func TestAnEmptyDeclarationAllowsNothing(t *testing.T) {
	t.Parallel()
	for _, declared := range [][]string{{}, {""}, {" , "}, {"WebFetch"}, {"Bash("}} {
		grants, _ := policy.Parse(declared)
		for _, request := range anything {
			got := check(t, grants, request, policy.Deny)
			if got.Rule != "allowed-tools: not listed" {
				t.Errorf("%q, %+v: rule %q", declared, request, got.Rule)
			}
		}
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	grants := grant(t, "Bash(git log:*)")
	for _, mode := range []policy.Mode{"", policy.Enforce, "LOG", "off", "preapprove"} {
		if got := (policy.Policy{Mode: mode}).Decide(grants, shell("rm x")); got.Effect != policy.Deny {
			t.Errorf("mode %q: %+v", mode, got)
		}
	}
	logging := policy.Policy{Mode: policy.Log}
	got := logging.Decide(grants, shell("rm x"))
	if got.Effect != policy.Allow || !got.Logged || got.Hint != "" || got.Rule != "allowed-tools: not listed" {
		t.Errorf("what is not listed, in mode log: %+v", got)
	}
	if got := logging.Decide(grants, shell("git log")); got.Effect != policy.Allow || got.Logged {
		t.Errorf("what is listed, in mode log: %+v", got)
	}
	if got := logging.Decide(grants, shell("rm \x00")); got.Effect != policy.Deny {
		t.Errorf("what cannot be run, in mode log: %+v", got)
	}
}

func TestMalformedRequestsAreDeniedWhateverIsGranted(t *testing.T) {
	t.Parallel()
	everything := grant(t, "Bash Read Write lint")
	tests := []struct {
		name    string
		request policy.Request
		rule    string
	}{
		{"no operation", policy.Request{}, "request: malformed"},
		{"unknown operation", policy.Request{Op: "delete", Path: "x"}, "request: malformed"},
		{"empty path", read(""), "request: malformed"},
		{"absolute path", read("/etc/passwd"), "request: malformed"},
		{"parent", read(".."), "request: malformed"},
		{"path out", read("../x"), "request: malformed"},
		{"path through parent", read("a/../../x"), "request: malformed"},
		{"path not clean", read("a//b"), "request: malformed"},
		{"path with dot", read("./a"), "request: malformed"},
		{"path with slash at its end", read("a/"), "request: malformed"},
		{"path with NUL", read("a\x00b"), "request: malformed"},
		{"absolute path to write", write("/tmp/x"), "request: malformed"},
		{"directory to write", write("."), "request: malformed"},
		{"long path", read(strings.Repeat("a", 4<<10+1)), "request: too long"},
		{"long path to write", write(strings.Repeat("a", 4<<10+1)), "request: too long"},
		{"no script", script(), "request: malformed"},
		{"empty script", script(""), "request: malformed"},
		{"skill as script", script("."), "request: malformed"},
		{"absolute script", script("/bin/sh", "-c", "id"), "request: malformed"},
		{"script out", script("../x.py"), "request: malformed"},
		{"script through parent", script("scripts/../../x.py"), "request: malformed"},
		{"script with an absolute path behind ./", script(".//bin/sh"), "request: malformed"},
		{"private directory", write(".skills-mcp"), "request: malformed"},
		{"in the private directory", write(".skills-mcp/home/.bashrc"), "request: malformed"},
		{"in the private directory, case folded", write(".Skills-MCP/x"), "request: malformed"},
		{"NUL in an argument", script("scripts/x.py", "a\x00"), "request: malformed"},
		{"NUL in a script", script("scripts/x\x00.py"), "request: malformed"},
		{"no name of a program", program("", "x"), "request: malformed"},
		{"no program at all", program(), "request: malformed"},
		{"a program's path", program("bin/jq"), "request: malformed"},
		{"an absolute program", program("/bin/sh"), "request: malformed"},
		{"a program with a backslash", program(`a\b`), "request: malformed"},
		{"NUL in a program's argument", program("jq", "\x00/x"), "request: malformed"},
		{"no tool", tool("", "x"), "request: malformed"},
		{"no program", tool("lint"), "request: malformed"},
		{"empty program", tool("lint", ""), "request: malformed"},
		{"NUL in a tool's name", tool("lint\x00", "x"), "request: malformed"},
		{"NUL in a tool's argument", tool("lint", "x", "\x00"), "request: malformed"},
		{"NUL in a command", shell("ls \x00"), "request: malformed"},
		{"empty command", shell(""), "request: malformed"},
		{"blank command", shell(" \n\t"), "request: malformed"},
		{"long command", shell("ls " + strings.Repeat("a", 1<<20-2)), "request: too long"},
	}
	for _, test := range tests {
		for _, grants := range []*policy.Grants{nil, everything} {
			if got := check(t, grants, test.request, policy.Deny); got.Rule != test.rule {
				t.Errorf("%s: rule %q, want %q", test.name, got.Rule, test.rule)
			}
		}
	}
	atLimit := "ls " + strings.Repeat("a", 16<<10-3)
	check(t, grant(t, "Bash(ls:*)"), shell(atLimit), policy.Allow)
	for _, long := range []string{atLimit + "a", "ls; " + strings.Repeat("(", 1<<20-4), "ls <<E\n" + strings.Repeat("a\n", 500_000) + "E"} {
		check(t, nil, shell(long), policy.Allow)
		check(t, grant(t, "Bash"), shell(long), policy.Allow)
		if got := check(t, grant(t, "Bash(ls:*)"), shell(long), policy.Deny); got.Rule != "request: too long" {
			t.Errorf("%.20q is denied by %q", long, got.Rule)
		}
		if words := policy.Words(long); words != nil {
			t.Errorf("%.20q has %d words", long, len(words))
		}
	}
	check(t, nil, read("caf\xe9.txt"), policy.Allow)
}

func TestNamesMapToOperations(t *testing.T) {
	t.Parallel()
	requests := map[string][]policy.Request{
		"execute": {shell("ls"), shell("ls $(pwd)"), script("scripts/x.py"), tool("lint", "eslint"), program("jq", "$(x)")},
		"read":    {read("."), read("a/b.md")},
		"create":  {write("a/b.md")},
		"replace": {edit("a/b.md")},
	}
	names := map[string][]string{
		"execute": {"Bash", "bash", "bash_tool", "exec", "Bash(*)", "Bash( * )"},
		"read":    {"Read", "read", "view", "View", "readResource", "Read(*)", "Read(**)"},
		"write":   {"Write", "write", "Edit", "edit", "MultiEdit", "Write(*)", "Edit(**)", "create_file str_replace"},
		"create":  {"create_file", "create_file(**)", "create_file(a/*.md)"},
		"replace": {"str_replace", "str_replace(*)", "str_replace(b.md)"},
		"":        {"BASH", "reader", "WebFetch", "WebFetch(domain:example.com)", "Grep", "Glob", "mcp__x__y", "Agent(x)"},
	}
	for granted, list := range names {
		for _, name := range list {
			for wanted, these := range requests {
				want := policy.Deny
				if granted == wanted || granted == "write" && (wanted == "create" || wanted == "replace") {
					want = policy.Allow
				}
				for _, request := range these {
					check(t, grant(t, name), request, want)
				}
			}
		}
	}
}

func TestDecisionsNameTheirRule(t *testing.T) {
	t.Parallel()
	grants := grant(t, "Bash(git log:*), Read(docs/**) Write(out/*)", "Bash(git status)", "lint")
	tests := []struct {
		request policy.Request
		want    policy.Decision
	}{
		{shell("git status && git log | git log > out/a 2>&1"), policy.Decision{Effect: policy.Allow,
			Rule:   "allowed-tools: Bash(git status), Bash(git log:*), Write(out/*)",
			Reason: "Listed in the skill's allowed-tools."}},
		{read("docs/a.md"), policy.Decision{Effect: policy.Allow,
			Rule: "allowed-tools: Read(docs/**)", Reason: "Listed in the skill's allowed-tools."}},
		{tool("lint", "eslint"), policy.Decision{Effect: policy.Allow,
			Rule: "allowed-tools: lint", Reason: "Listed in the skill's allowed-tools."}},
		{shell("git log && rm -rf x"), policy.Decision{Effect: policy.Deny,
			Rule:   "allowed-tools: not listed",
			Reason: `The command "rm -rf x" is not in the skill's allowed-tools.`,
			Hint: "Allowed by this skill: Bash(git log:*), Read(docs/**), Write(out/*), Bash(git status), lint. " +
				"Or run one of its scripts with `script` and `args`."}},
		{shell("git log $(id)"), policy.Decision{Effect: policy.Deny,
			Rule:   "allowed-tools: shell syntax",
			Reason: "The command has a command substitution, so what it runs cannot be checked.",
			Hint: "Use plain words, quoted where needed, joined by |, &&, || or ;, and \"$SKILL_DIR/…\" for files of the skill. " +
				"Allowed by this skill: Bash(git log:*), Read(docs/**), Write(out/*), Bash(git status), lint. " +
				"Or run one of its scripts with `script` and `args`."}},
		{shell("git log > notes"), policy.Decision{Effect: policy.Deny,
			Rule:   "allowed-tools: redirect",
			Reason: `Redirecting to or from "notes" needs leave to write it.`,
			Hint: "Allowed by this skill: Bash(git log:*), Read(docs/**), Write(out/*), Bash(git status), lint. " +
				"Redirects may go to /dev/null and to workspace files that a Write entry lists."}},
	}
	for _, test := range tests {
		if got := check(t, grants, test.request, test.want.Effect); got != test.want {
			t.Errorf("%+v:\n got %+v\nwant %+v", test.request, got, test.want)
		}
	}
}

func TestDecisionTextsAreBounded(t *testing.T) {
	t.Parallel()
	var declared []string
	for range 200 {
		declared = append(declared, "Bash("+strings.Repeat("é", 200)+":*)")
	}
	grants := grant(t, append(declared, "Bash(ls:*)")...)
	for _, request := range []policy.Request{
		shell("rm " + strings.Repeat("x", 10_000)),
		shell("ls '" + strings.Repeat("ab", 4_000)),
		shell("ls > '" + strings.Repeat("ab/", 2_000) + "x'"),
		script("scripts/"+strings.Repeat("x", 10_000), "a\nb"),
		read(strings.Repeat("x\u202e", 1_000)), write(strings.Repeat("x", 4_000)), write(strings.Repeat("x", 10_000)),
		tool(strings.Repeat("x", 10_000), "x"),
	} {
		check(t, grants, request, policy.Deny)
	}
}

func TestHintsCountWhatTheyLeaveOut(t *testing.T) {
	t.Parallel()
	grants := grant(t, strings.Repeat("a ", 15))
	want := "Allowed by this skill: a" + strings.Repeat(", a", 11) + " and 3 more. The author can add Read or Read(pattern)."
	if got := check(t, grants, read("x"), policy.Deny); got.Hint != want {
		t.Errorf("hint %q, want %q", got.Hint, want)
	}
}

func TestZeroEffectIsNoDecision(t *testing.T) {
	t.Parallel()
	var none policy.Effect
	if none == policy.Allow || none == policy.Deny || policy.Deny <= policy.Allow {
		t.Error("the zero Effect decides, or Deny is not the stricter")
	}
	for effect, want := range map[policy.Effect]string{none: "undecided", policy.Allow: "allow", policy.Deny: "deny"} {
		if effect.String() != want {
			t.Errorf("%d is %q, want %q", effect, effect, want)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	grants := grant(b, "Bash(npm run test:*) Bash(git add:*) Bash(git * main) Read Write(out/**)", "Bash(git log:*) Bash(head:*)")
	for name, request := range map[string]policy.Request{
		"shell":  shell("git log --oneline -20 2>/dev/null | head -5 > out/log.txt"),
		"denied": shell("git log --oneline $(id)"),
		"long":   shell("git log " + strings.Repeat("a ", 8_000)),
		"script": script("scripts/x.py", "a", "b"),
		"read":   read("references/deep/down/a.md"),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				policy.Policy{}.Decide(grants, request)
			}
		})
	}
}

// TestUsersFiles: a relative pattern holds in the project as it does in the
// workspace, and one from the top for any of the user's files, and for nothing
// else.
func TestUsersFiles(t *testing.T) {
	t.Parallel()
	const project, share = "/home/ann/app", "/home/ann/data"
	for _, test := range []struct {
		declared         string
		dir, path        string
		inProject, allow bool
	}{
		{"Read(docs/**)", project, "docs/a/b.md", true, true},
		{"Read(/docs/**)", project, "docs/a.md", true, true},
		{"Read(docs/**)", project, "src/docs/a.md", true, false},
		{"Read(*.md)", project, "src/docs/a.md", true, true},
		{"Read(docs/**)", share, "docs/a.md", false, false},
		{"Read(*.md)", share, "a.md", false, false},
		{"Read", share, "a.md", false, true},
		{"Read(**)", share, "a.md", false, true},
		{"Read(//home/ann/data/*.md)", share, "a.md", false, true},
		{"Read(//home/ann/data/)", share, "b/c/a.md", false, true},
		{"Read(//home/*/data/**)", share, "b/c/a.md", false, true},
		{"Read(//home/ann/data/*.md)", share, "b/a.md", false, false},
		{"Read(//home/ann/app/docs/**)", project, "docs/a.md", true, true},
		{"Read(//docs/**)", project, "docs/a.md", true, false},
		{"Read(//docs/**)", "", "docs/a.md", false, false},
		{"Read(//a.md)", "", "a.md", false, false},
		{"Read(//home/ann/data)", share, ".", false, true},
		{"Read(./*)", project, ".", true, false},
		{"Read(//a[b]/**)", "/a[b]", "c", false, true},
		{"Read(//a[b]/**)", "/ab", "c", false, false},
	} {
		for op, declared := range map[policy.Op]string{policy.OpRead: test.declared, policy.OpWrite: strings.Replace(test.declared, "Read", "Edit", 1)} {
			if op == policy.OpWrite && test.path == "." {
				continue
			}
			grants, faults := policy.Parse([]string{declared})
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			request := policy.Request{Op: op, Path: test.path, Dir: test.dir, InProject: test.inProject}
			decision := policy.Policy{}.Decide(grants, request)
			if allow := decision.Effect == policy.Allow; allow != test.allow {
				t.Errorf("%s: %+v is %s: %s", declared, request, decision.Effect, decision.Reason)
			}
		}
	}
	private := policy.Request{Op: policy.OpWrite, Path: ".skills-mcp/x"}
	if d := (policy.Policy{}).Decide(nil, private); d.Effect != policy.Deny {
		t.Errorf("the sandbox's own directory: %+v", d)
	}
	private.Dir, private.InProject = project, true // where other rules protect it
	if d := (policy.Policy{}).Decide(nil, private); d.Effect != policy.Allow {
		t.Errorf("a directory of that name of the user: %+v", d)
	}
}

// TestProgramsAreDecidedAsCommands: what a command of the same words may do, a
// program without a shell may, and nothing that only a shell makes of the words.
func TestProgramsAreDecidedAsCommands(t *testing.T) {
	t.Parallel()
	grants := grant(t, "Bash(jq:*) Bash(python3 scripts/report.py:*) Bash(git log)")
	in := func(request policy.Request, dir string) policy.Request {
		request.SkillDir = dir
		return request
	}
	inSkill := func(request policy.Request) policy.Request {
		request.InSkill = true
		return request
	}
	for _, test := range []struct {
		request policy.Request
		want    policy.Effect
	}{
		{program("jq", "$(rm -rf x); `y` > z"), policy.Allow},
		{program("timeout", "5", "jq", "."), policy.Allow},
		{program("git", "log"), policy.Allow},
		{program("git", "log", "--output=x"), policy.Deny},
		{program("rm", "x"), policy.Deny},
		{program("env", "rm", "x"), policy.Deny},
		{program("sh", "-c", "jq ."), policy.Deny},
		{in(program("python3", "/skill/scripts/report.py", "x"), "/skill"), policy.Allow},
		{inSkill(program("python3", "scripts/report.py")), policy.Allow},
		{program("python3", "scripts/report.py"), policy.Deny},            // of the workspace
		{program("python3", "$SKILL_DIR/scripts/report.py"), policy.Deny}, // a directory of that very name there
		{in(program("python3", "$SKILL_DIR/scripts/report.py"), "/skill"), policy.Deny},
		{in(program("python3", "/skill/../scripts/report.py"), "/skill"), policy.Deny},
	} {
		check(t, grants, test.request, test.want)
	}
}

// TestPermissions: what is granted is told by what is done, whatever the names are.
func TestPermissions(t *testing.T) {
	t.Parallel()
	got := grant(t, "Bash( git:* ) exec View(docs/**) Edit create_file(out/*) str_replace(*) lint WebFetch(domain:x)").Permissions()
	want := &policy.Permissions{
		Execute: []string{"git:*", "*"}, Read: []string{"docs/**"}, Write: []string{"*"},
		Create: []string{"out/*"}, Replace: []string{"*"}, Tools: []string{"lint", "WebFetch(domain:x)"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var none *policy.Grants
	if got := none.Permissions(); got != nil {
		t.Errorf("where nothing is said: %+v", got)
	}
}

// What a skill keeps for itself, or never runs, is for its own programs alone.
func TestOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		declared []string
		want     bool
	}{
		{nil, true},
		{[]string{}, false},
		{[]string{"Read"}, false},
		{[]string{"Bash"}, false},
		{[]string{"Read Bash"}, true},
		{[]string{"view", "Bash(scripts/*:*)"}, true},
		{[]string{"Read(docs/*)", "Bash"}, false},
		{[]string{"Read(docs/*)", "Read", "exec"}, true},
		{[]string{"Read", "render"}, false}, // a tool's name
		{[]string{"Read", "Bash("}, false},
	} {
		grants, _ := policy.Parse(c.declared)
		if got := (policy.Policy{}).Open(grants); got != c.want {
			t.Errorf("%q: open is %v", c.declared, got)
		}
		if !(policy.Policy{Mode: policy.Log}).Open(grants) {
			t.Errorf("%q: with mode log nothing is kept", c.declared)
		}
	}
}
