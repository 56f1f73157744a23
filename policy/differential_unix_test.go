//go:build unix

package policy_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/policy"
)

// laboratory runs shell programs where nothing but stub programs can be
// found. A stub writes its argument vector to a file of its own and exits.
type laboratory struct {
	bash, stubs string
	grants      *policy.Grants
}

// stubNames are the programs that exist in a laboratory. Those with a slash
// are files of the skill, and of the workspace too, where nothing may run them.
var stubNames = []string{"a", "b", "git", "ls", "timeout", "nice", "s/x", "if0", "1", "-", "@", "then", "then2"}

const stub = `#!/bin/sh
for argument in "${0#"$STUBS"/}" "$@"; do printf '%s\0' "$argument"; done > "$LOG/$$"
exit "$STATUS"
`

func newLaboratory(t testing.TB) *laboratory {
	t.Helper()
	bash, err := exec.LookPath("bash")
	testenv.Need(t, "bash", err)
	l := &laboratory{bash: bash, stubs: t.TempDir()}
	declared := []string{"Write(out/*) Write(*.txt)"}
	for _, name := range stubNames {
		declared = append(declared, "Bash("+name+":*)")
		if !strings.Contains(name, "/") {
			writeStub(t, filepath.Join(l.stubs, name))
		}
	}
	l.grants = grant(t, declared...)
	return l
}

func writeStub(t testing.TB, name string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(stub), 0o700); err != nil {
		t.Fatal(err)
	}
}

// run returns the argument vectors that bash ran, when every stub exits with this
// status, and what bash printed.
func (l *laboratory) run(t testing.TB, request policy.Request, status string) (ran []string, output string) {
	t.Helper()
	command, room := request.Command, t.TempDir()
	work, skill, log := filepath.Join(room, "work"), filepath.Join(room, "skill"), filepath.Join(room, "log")
	if err := os.Mkdir(log, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{work, skill} {
		for _, below := range []string{"s", "out"} {
			if err := os.MkdirAll(filepath.Join(dir, below), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		writeStub(t, filepath.Join(dir, "s", "x"))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.bash, "--noprofile", "--norc", "-c", command)
	if cmd.Dir = work; request.InSkill {
		cmd.Dir = skill
	}
	cmd.Env = []string{"PATH=" + l.stubs, "STUBS=" + l.stubs, "LOG=" + log, "STATUS=" + status, "LC_ALL=C", "SKILL_DIR=" + skill}
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("%q: %v", command, err)
	}
	logs, err := filepath.Glob(filepath.Join(log, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range logs {
		argv, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		ran = append(ran, strings.ReplaceAll(string(argv), skill, "$SKILL_DIR"))
	}
	return ran, printed.String()
}

// compare runs a command that the policy allows and holds what ran against
// what the policy took it to run. It reports whether it did.
func (l *laboratory) compare(t testing.TB, request policy.Request) bool {
	t.Helper()
	command := request.Command
	decision := policy.Policy{}.Decide(l.grants, request)
	if decision.Effect != policy.Allow {
		return false
	}
	commands, files, err := policy.Program(command)
	if err != nil {
		t.Fatalf("%q is allowed by %s and not understood: %v", command, decision.Rule, err)
	}
	var want []string
	for _, argv := range commands {
		if argv[0] == "command" {
			argv = argv[1:] // a builtin; what it runs is logged
		}
		program := strings.TrimPrefix(argv[0], policy.SkillVariable+"/")
		if !slices.Contains(stubNames, strings.TrimPrefix(program, "./")) {
			return false // nothing but stubs is ever run
		}
		if program == "s/x" && argv[0] == program && !request.InSkill {
			t.Errorf("%q: a file of the workspace is allowed by %s", command, decision.Rule)
		}
		for i := range argv {
			argv[i] = strings.ReplaceAll(argv[i], policy.SkillVariable, "$SKILL_DIR")
		}
		want = append(want, strings.Join(argv, "\x00")+"\x00")
	}
	// Where all succeed, what follows || does not run; where all fail, what
	// follows && does not.
	ran, output := l.run(t, request, "0")
	if strings.Contains(command, "||") {
		more, printed := l.run(t, request, "1")
		ran, output = append(ran, more...), output+printed
	}
	ran, want = unique(ran), unique(want)
	for _, argv := range ran {
		if !slices.Contains(want, argv) {
			t.Errorf("%q: bash ran %q; only %q was decided on", command, argv, want)
		}
	}
	if !harmless(output, command, files) {
		t.Errorf("%q: bash said %q", command, output)
	}
	if output == "" && !slices.Equal(ran, want) {
		t.Errorf("%q: bash ran %q, want %q", command, ran, want)
	}
	return true
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// harmless reports whether bash printed only what an allowed command may cause:
// the times of `time`, and redirects from files and descriptors that are not
// open. Stubs themselves print nothing.
func harmless(output, command string, files []string) bool {
	for line := range strings.Lines(output) {
		timed := strings.Contains(command, "time") && (line == "\n" || strings.Contains(line, "0m"))
		missing := len(files) > 0 && strings.Contains(line, "No such file or directory")
		closed := strings.Contains(command, "&") && strings.Contains(line, "Bad file descriptor")
		if !timed && !missing && !closed {
			return false
		}
	}
	return true
}

// generator writes shell programs that are mostly of the strict subset, and
// then spoils some.
type generator struct{ *rand.Rand }

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g generator) word() string {
	if g.IntN(8) == 0 {
		return g.pick("$SKILL_DIR", `"$SKILL_DIR"`, `"${SKILL_DIR}/y"`, `$SKILL_DIR/y`, `"$SKILL_DIR/a b"`, `"$SKILL_DIR"/'c d'`, `${SKILL_DIR}/\ `, `"$SKILL_DIR/"..`)
	}
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(g.pick("x", "y1", "-z", "'q r'", `"s t"`, `\ `, `\'`, `\"`, `\\`, `"\$v"`, `"\"w"`, `"\a"`, "''", `""`, "=", "a=b",
			`'$h'`, `'*'`, `\*`, `\$`, "%", "@", "!", "^", ",", ":", "+", "]", "2", "é", "'é'", `"a'b"`, `'a"b'`, `'a\'`, `\~`, "'~'", "'{a,b}'", `\{a,b\}`, `\;`, `\&`,
			"'|'", "then", "time", "if", "in", "-", "--", "1", `"!"`, `'\\'`, "e\\x", "..", "/", "./"))
	}
	return b.String()
}

func (g generator) command() string {
	parts := []string{g.pick("", "", "", "time", "timeout 5", "nice", "command", "command nice")}
	parts = append(parts, g.pick("a", "b", "git", "ls", "s/x", "./s/x", `"$SKILL_DIR/s/x"`, "$SKILL_DIR/s/x", `"${SKILL_DIR}"/s/x`, `${SKILL_DIR}/'s'/x`, `\a`, "'b'", `g"i"t`, "if0", "1", "-", "@", "then2", `\then`))
	for range g.IntN(4) {
		parts = append(parts, g.word())
	}
	if g.IntN(3) == 0 {
		redirect := g.pick(">", ">>", "2>", "&>", "&>>", ">|", "<>", "1>", "<", "> ", "3>") + g.pick("out/a", "/dev/null", "'out/b'", "n.txt", `out/\c`, "./out/d") // one token
		if g.IntN(2) == 0 {
			redirect = g.pick("2>&1", "1>&2", ">&2", "<&0", "0<&1", ">& 2", "2>& 1", "5>&1")
		}
		at := g.IntN(len(parts) + 1)
		parts = slices.Insert(parts, at, redirect)
	}
	return strings.TrimSpace(strings.Join(parts, g.pick(" ", " ", "  ")))
}

// request starts a program in one of the two directories.
func (g generator) request() policy.Request {
	return policy.Request{Op: policy.OpShell, Command: g.program(), InSkill: g.IntN(3) == 0, SkillDir: "/skill"}
}

func (g generator) program() string {
	var b strings.Builder
	b.WriteString(g.command())
	for range g.IntN(4) {
		b.WriteString(g.pick(" ", ""))
		b.WriteString(g.pick("|", "|", "&&", "||", ";", "|&", "&&", "; "))
		b.WriteString(g.pick(" ", ""))
		b.WriteString(g.command())
	}
	b.WriteString(g.pick("", "", "", ";", " ", "\n"))
	text := b.String()
	for range max(0, g.IntN(5)-2) {
		text = g.spoil(text)
	}
	return text
}

// spoil changes one place of the text.
func (g generator) spoil(text string) string {
	at := g.IntN(len(text) + 1)
	switch g.IntN(4) {
	case 0:
		return text[:at] + text[min(at+1+g.IntN(2), len(text)):]
	case 1:
		from := g.IntN(len(text) + 1)
		return text[:at] + text[from:min(from+1+g.IntN(4), len(text))] + text[at:]
	default:
		return text[:at] + g.pick(" ", "'", `"`, `\`, "|", "&", ";", "<", ">", "!", "(", ")", "{", "}", "[", "]", "=", "$", "`", "~", "*", "#", "\n", "\t", "\r", "\\\n",
			" time ", " then ", " ! ", "$SKILL_DIR", `"$SKILL_DIR"`, "${SKILL_DIR}", "2", "-", "%", "\u00a0", "é", "^", "@", "?", "+", ":", ",", "/", "..", "coproc ", "function ", "a()", "[[ ", "((", "<<", "<(", "2>", "&>", ">&", "|&", "\x01", "\x7f") + text[at:]
	}
}

// The regressions that the rules were made for, and others.
var differentialSeeds = []string{
	"a #\\\nb", "a \\\nb", "a x | b y && git 'p q' || ls \"r\" > out/a 2>&1", "time a | b", "a | time b", "command a", "timeout 5 a", "\\a", "a 2>&1 x", "a x2>out/a",
	"a \\2>out/a", "a '2'>out/a", "a 2 >out/a", ">out/a a", "2>&1 a x", "a&>out/a", "a &>out/a x", "a &>>n.txt", "s/x a;./s/x b", "a ''\"\"", "a \"\\x\\\\\"", "a é", "a 'é'",
	"time", "time -- a", "time time a", ">out/a time b", "2>&1 timeout 5 a", ">out/a then2", ">out/a x=1", "then a", "\\then a", "a=1 b", "a;", "a;;", "a &", "! a", "a !", "a ! b", "- a", "@ a", "1 a", "1>out/a a", "1 >out/a", "a >& 2", "a>&2x", "a <&0", "a 3>&4",
	"a\u00a0b", "a\rb", "a <out/zz || b", "a %1", "if0 a", "a {", "a }", "a ]", "a in", "a <> out/q", "a 0<out/zz", "a -n -- x", "command command a", "nice nice a b", "command nice a", "a *", "a [s]", "a {x,y}", "a ~",
	"s/x", "$SKILL_DIR/s/x a", `"$SKILL_DIR/s/x" "$SKILL_DIR"`, `"${SKILL_DIR}"/s/x`, `"$SKILL_DIR"s/x`, "$SKILL_DIR s/x", "${SKILL_DIR}/s/x", "a ${SKILL_DIR:-x}", "a ${!SKILL_DIR}", "a $SKILL_DIR$SKILL_DIR", `"$SKILL_DIR/s/\x"`,
	`a "$SKILL_DIR/$(b)"`, "a $SKILL_DIR/*", "SKILL_DIR=. $SKILL_DIR/s/x", `""$SKILL_DIR/s/x`, "$SKILL_DIR/s/x>out/a", `a "$SKILL_DIR
"`, "$SKILL_DIR[0]", "a $SKILL_DIR[0]", "a ${SKILL_DIR}[0]", "a $SKILL_DIR~", "a $SKILL_DIR/é",
}

func TestBashRunsWhatWasDecided(t *testing.T) {
	t.Parallel()
	l := newLaboratory(t)
	g := generator{rand.New(rand.NewPCG(1, 2))}
	for compared := 0; compared < 150; {
		if l.compare(t, g.request()) {
			compared++
		}
	}
}

// The laboratory must see it when bash runs more than was decided on.
func TestLaboratorySeesWhatBashRuns(t *testing.T) {
	t.Parallel()
	l := newLaboratory(t)
	ran, printed := l.run(t, shell("a #\\\nb 'c d'; rm x; s/x; $SKILL_DIR/s/x"), "0")
	if want := []string{"$SKILL_DIR/s/x\x00", "a\x00", "b\x00c d\x00", "s/x\x00"}; !slices.Equal(unique(ran), want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
	if harmless(printed, "rm x", nil) {
		t.Errorf("a missing program went unseen: %q", printed)
	}
}

// atSkill starts a command in the workspace, with a known directory of the skill.
func atSkill(command string) policy.Request {
	request := shell(command)
	request.SkillDir = "/skill"
	return request
}

// FuzzShellAgainstBash compares the text, or, where it is not allowed, a
// program that is generated from the seed.
func FuzzShellAgainstBash(f *testing.F) {
	l := newLaboratory(f)
	allowed := 0
	for i, command := range differentialSeeds {
		f.Add(uint64(i), command)
		if (policy.Policy{}).Decide(l.grants, atSkill(command)).Effect == policy.Allow {
			allowed++
		}
	}
	if allowed < 30 || allowed == len(differentialSeeds) {
		f.Errorf("%d of %d seeds are allowed", allowed, len(differentialSeeds))
	}
	f.Fuzz(func(t *testing.T, seed uint64, command string) {
		if !l.compare(t, atSkill(command)) {
			l.compare(t, generator{rand.New(rand.NewPCG(seed, 0))}.request())
		}
	})
}
