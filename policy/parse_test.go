package policy_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/policy"
)

func TestParseSplitsEntries(t *testing.T) {
	t.Parallel()
	tests := []struct {
		declared []string
		want     []string
	}{
		{[]string{"Bash(git log:*) Read"}, []string{"Bash(git log:*)", "Read"}},
		{[]string{"Bash(git log:*),Read,  Write"}, []string{"Bash(git log:*)", "Read", "Write"}},
		{[]string{"Read\n  Write\tGrep\r\n"}, []string{"Read", "Write", "Grep"}},
		{[]string{",, Read ,,", "", "Write"}, []string{"Read", "Write"}},
		{[]string{"Bash(echo a, b) Read"}, []string{"Bash(echo a, b)", "Read"}},
		{[]string{"Bash(python3 -c 'print(1)') Read"}, []string{"Bash(python3 -c 'print(1)')", "Read"}},
		{[]string{`Bash(echo ')') Read`}, []string{`Bash(echo ')')`, "Read"}},
		{[]string{`Bash(echo "\")") Read`}, []string{`Bash(echo "\")")`, "Read"}},
		{[]string{`Bash(find . \( -name x \)) Read`}, []string{`Bash(find . \( -name x \))`, "Read"}},
		{[]string{`Bash(echo \)) Read`}, []string{`Bash(echo \))`, "Read"}},
		{[]string{"WebFetch(domain:example.com) mcp__srv__* Agent()"},
			[]string{"WebFetch(domain:example.com)", "mcp__srv__*", "Agent()"}},
		{[]string{}, []string{}},
	}
	for _, test := range tests {
		grants, faults := policy.Parse(test.declared)
		if len(faults) > 0 || !slices.Equal(grants.Entries(), test.want) {
			t.Errorf("Parse(%q) = %q, %v; want %q", test.declared, grants.Entries(), faults, test.want)
		}
	}
}

func TestParseOfNothing(t *testing.T) {
	t.Parallel()
	grants, faults := policy.Parse(nil)
	if grants != nil || faults != nil || grants.Entries() != nil {
		t.Errorf("Parse(nil) = %v, %v", grants, faults)
	}
	if empty := grant(t, ""); empty == nil || len(empty.Entries()) > 0 {
		t.Errorf("nothing declared is %v", empty)
	}
}

var faultyDeclarations = []struct {
	declared string
	problem  string // a part of it
	stand    []string
}{
	{"Read Bash(git log Write", "unbalanced", []string{"Read"}},
	{"Bash(echo don't:*) Read", "unbalanced", nil},
	{`Bash(echo "a) Read`, "unbalanced", nil},
	{"Bash((a) Read", "unbalanced", nil},
	{`Bash(a\) Read`, "unbalanced", nil},
	{"Bash) Read", "parenthesis", []string{"Read"}},
	{") Read", "parenthesis", []string{"Read"}},
	{"Bash(a)) Read", "parenthesis", []string{"Read"}},
	{"Bash(a)b Read", "parenthesis", []string{"Read"}},
	{"Bash(a)(b c) Read", "parenthesis", []string{"Read"}},
	{"Bash(a)(b Read", "parenthesis", nil},
	{"Bash(a)Read Write", "parenthesis", []string{"Write"}},
	{"(git:*) Read", "no name", []string{"Read"}},
	// None of these may leave a bare Bash behind.
	{"Bash (git:*) Read", "space before", []string{"Read"}},
	{"Bash \n (git:*) Read", "control", []string{"Read"}},
	{"Bash \u00a0(git:*) Read", "invisible", []string{"Read"}},
	{"Bash\u00a0(git:*) Read", "invisible", []string{"Read"}},
	{"Bash\u200b Read", "invisible", []string{"Read"}},
	{"Bash() Read", "nothing between", []string{"Read"}},
	{"Bash( ) Read", "nothing between", []string{"Read"}},
	{"Read()", "nothing between", nil},
	{"Bash(:*) Read", "no program", []string{"Read"}},
	{"Bash(git\u202elog) Read", "bidirectional", []string{"Read"}},
	{"Bash(git\u2028log)", "invisible", nil},
	{"Bash(git\tlog)", "control", nil},
	{"Bash(git\nlog)", "control", nil},
	{"Bash(git\x00)", "control", nil},
	{"Re\x00ad Read", "control", []string{"Read"}},
	{"Bash(git\x7f)", "control", nil},
	{"Bash(git \xff) Read", "UTF-8", []string{"Read"}},
	{"Bash(" + strings.Repeat("a", 1<<10) + ") Read", "longer than", []string{"Read"}},
	{strings.Repeat("a", 1<<10+1) + " Read", "longer than", []string{"Read"}},
	{"Bash(" + strings.Repeat("a ", 65) + ") Read", "more than 64 words", []string{"Read"}},
	{"Bash(git add && git commit:*) Read", "unquoted &", []string{"Read"}},
	{"Bash(a | b)", "unquoted |", nil},
	{"Bash(a; b)", "unquoted ;", nil},
	{"Bash(a > b)", "unquoted >", nil},
	{"Bash(${CLAUDE_SKILL_DIR}/scripts/x.py:*)", "unquoted $", nil},
	{"Bash(echo `id`)", "unquoted `", nil},
	{"Bash(/usr/bin/*)", "not relative", nil},
	{"Bash(~/bin/*:*)", "not relative", nil},
	{"Bash(a\\ )", "backslash", nil},
	{"Read(../x)", "segment", nil},
	{"Read(a//b)", "segment", nil},
	{"Read(a/./b)", "segment", nil},
	{"Read(/)", "segment", nil},
	{"Read(//)", "segment", nil},
	{"Read(///etc/passwd)", "segment", nil},
	{"Read(//home/../etc/passwd)", "segment", nil},
	{"Read(~/.ssh/**)", "home directory", nil},
	{"Write(!a)", "only allow", nil},
	{`Read("a b")`, "quotes", nil},
	{`Read(a\b)`, "quotes", nil},
}

func TestFaultyEntriesGrantNothing(t *testing.T) {
	t.Parallel()
	for _, test := range faultyDeclarations {
		grants, faults := policy.Parse([]string{test.declared})
		if !slices.Equal(grants.Entries(), test.stand) && len(grants.Entries())+len(test.stand) > 0 {
			t.Errorf("Parse(%q): %q stand, want %q", test.declared, grants.Entries(), test.stand)
		}
		var fault *policy.EntryError
		if len(faults) != 1 || !errors.As(faults[0], &fault) || !strings.Contains(fault.Problem, test.problem) {
			t.Errorf("Parse(%q): faults %v, want one with %q", test.declared, faults, test.problem)
		}
		for _, request := range []policy.Request{shell("git log"), script("scripts/x.py")} {
			check(t, grants, request, policy.Deny)
		}
	}
}

func TestAFaultEndsWithItsElement(t *testing.T) {
	t.Parallel()
	grants, faults := policy.Parse([]string{"Bash(git log Write", "Read"})
	if entries := grants.Entries(); len(faults) != 1 || !slices.Equal(entries, []string{"Read"}) {
		t.Errorf("%q stand, faults %v", entries, faults)
	}
}

func TestTooManyEntries(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 256 {
		names = append(names, fmt.Sprintf("Bash(p%d)", i))
	}
	grants := grant(t, strings.Join(names, " "))
	check(t, grants, shell("p255"), policy.Allow)
	for _, declared := range [][]string{
		append(slices.Clone(names), "Bash(one-more)", "Read"),
		append(slices.Repeat([]string{"Bash("}, 256), "Bash(one-more) Read"),
	} {
		grants, faults := policy.Parse(declared)
		if len(faults) == 0 || len(faults) > 257 || !strings.Contains(faults[len(faults)-1].Error(), "more than 256") {
			t.Errorf("%d faults", len(faults))
		}
		check(t, grants, shell("one-more"), policy.Deny)
		check(t, grants, read("x"), policy.Deny)
	}
}

func TestFaultsAreOneShortLine(t *testing.T) {
	t.Parallel()
	_, faults := policy.Parse([]string{"Bash(" + strings.Repeat("\x1b[31m\n", 10_000)})
	if len(faults) != 1 || len(faults[0].Error()) > 1024 || strings.ContainsAny(faults[0].Error(), "\n\x1b") {
		t.Errorf("faults %.2000q", faults)
	}
}

// declarations are the seeds of FuzzParse.
var declarations = []string{
	"Bash(git log:*) Read", "Bash,Read(a/**),Write(out/)", "Bash (git:*)", "Bash(a)(b", ")", "(", "Bash('a b' \"c\\\"\" d\\ e:*)",
	"Bash(* --help *)", "Bash(scripts/*.py)", "Read([a]*?)", "mcp__x__y, WebFetch(domain:x)", "Bash(\u202e)", "Bash(a\x00)", "\xff",
	"Edit(**/x/**)", "Bash(find . -exec rm {} \\;)",
}

func FuzzParse(f *testing.F) {
	if len(declarations) == 0 {
		f.Fatal("no seeds")
	}
	for _, declared := range declarations {
		f.Add(declared)
	}
	f.Fuzz(func(t *testing.T, declared string) {
		grants, faults := policy.Parse([]string{declared})
		for _, fault := range faults {
			var entry *policy.EntryError
			if !errors.As(fault, &entry) || entry.Problem == "" {
				t.Errorf("%q: fault %v", declared, fault)
			}
		}
		// What stands is the same when read for itself, and nothing else
		// does anything: faults grant nothing.
		alone, more := policy.Parse(grants.Entries())
		if len(more) > 0 || !slices.Equal(alone.Entries(), grants.Entries()) && len(grants.Entries()) > 0 {
			t.Fatalf("%q: %q read again is %q, %v", declared, grants.Entries(), alone.Entries(), more)
		}
		if len(grants.Entries()) == 0 {
			for _, request := range anything {
				check(t, grants, request, policy.Deny)
			}
		}
		for _, request := range append(slices.Clone(anything), shell("git log"), shell(declared), script(declared), read(declared)) {
			a, b := policy.Policy{}.Decide(grants, request), policy.Policy{}.Decide(alone, request)
			if len(grants.Entries()) > 0 && a != b {
				t.Errorf("%q, %+v: %+v and %+v", declared, request, a, b)
			}
		}
	})
}

func TestExecute(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		declared []string
		want     bool
	}{
		{nil, true},
		{[]string{}, false},
		{[]string{"Read Write(*.md) view"}, false},
		{[]string{"Bash("}, false},
		{[]string{"Read Bash(git:*)"}, true},
		{[]string{"convert"}, true}, // a tool's name
	} {
		if grants, _ := policy.Parse(test.declared); grants.Execute() != test.want {
			t.Errorf("%q may run something: %v, want %v", test.declared, !test.want, test.want)
		}
	}
}
