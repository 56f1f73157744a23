package policy_test

import (
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/policy"
)

func TestShellSubset(t *testing.T) {
	t.Parallel()
	grants := grant(t, "Bash(ls:*) Bash(cat:*) Write(out/**) Write(./notes.txt)")
	for _, command := range []string{
		"ls", "  ls  -la  ", "ls\n", "ls\n\n", "ls;", "ls ; cat a", "ls && cat a || ls b", "ls | cat | cat",
		"ls |& cat", `ls 'a b' "c d" e\ f`, `ls "it's" 'a"b'`, `ls "a\$b\"c\\d\e"`, `ls a'b'"c"d`, "ls ''", `\ls`, `'ls'`, `l"s" a`,
		"ls --format=%h a=b HEAD^ a,b a:b @ % + ! -", "ls 'é' \"日本\"", "ls '$HOME' '`id`' '*' '~' '{a,b}' '<(x)' '!!'",
		"ls > /dev/null", "ls 2>/dev/null", "ls >/dev/null 2>&1", "ls &>/dev/null", "ls &>>/dev/null", "ls </dev/null",
		"ls 2>&1 1>&2 | cat", "ls >out/a", "ls >> out/a/b", "ls 2>out/err", "ls > ./out/a", "ls >| out/a", "cat < out/a", "cat <>out/a",
		"ls &>out/a", `ls > 'out/a b'`, "ls > notes.txt", "> out/a ls", "2>&1 ls", "ls >out/a >out/b", "time ls", "time ls | cat", "ls && time cat",
		"cat then else if", // keywords only where a command begins
	} {
		check(t, grants, shell(command), policy.Allow)
	}
}

// Each of these would pass a matcher of strings or of careless words.
func TestShellAttacks(t *testing.T) {
	t.Parallel()
	syntax := []string{
		// two parsers, two readings
		"ls #\\\nrm x", "ls # x", "ls a#b", "ls '#'", "ls \\#", "#", "ls \\\nrm", "ls \\", "ls a\\", "l\\\ns", "ls 'a\\\nb'", "ls\nrm x", "ls\n\nls",
		// characters
		"ls\ta", "ls\rrm x", "ls a\r", "ls \v", "ls \f", "ls \x1b[A", "ls \x7f", "ls a\b", "ls \u0085 x", "ls\u00a0a", "ls '\u00a0'", "ls \u2003a",
		"ls \u2028 rm", "ls '\u2029'", "ls \u3000a", "ls \ufeff", "ls '\u202ea'", "ls \u2066a\u2069", "ls a\u200bb", "ls \u00ad", "ls \u061c", "ls \u180e",
		"ls \xff", "ls '\xc3'", "ls \xc0\x80", "ls é", "ls \\é", "lѕ",
		// expansions
		"ls $HOME", "ls ${HOME}", "ls \"$HOME\"", "ls \"a$\"", "ls $", "ls $1", "ls $(rm x)", "ls \"$(rm x)\"", "ls `rm x`", "ls \"`rm x`\"", "ls $((1))", "ls \"$((a[$(rm x)]))\"",
		"ls $[1]", "ls $'a'", "ls $'\\x41'", "ls $\"a\"", "ls *", "ls a?", "ls [a]", "ls ]a[", "ls ~", "ls ~root", "ls a~", "ls a=~", "ls {a,b}", "ls {1..3}", "ls a{", "ls }", "ls {}",
		"ls @(a|b)", "ls !(a)", "ls +(a)", "ls <(rm x)", "ls >(rm x)", "ls =(rm)", "$x", "$(echo ls)", "ls ${x@P}", "*/ls", "~/ls",
		// grammar
		"X=1", "X=1 ls", "PATH=. ls", "X+=1 ls", "a[0]=1 ls", "X=(a) ls", "-i", "- ls", "+x ls", "--rcfile x", "ls &", "ls & cat", "ls &; cat", "! ls", "! ls | cat", "ls && ! cat", "coproc ls", "coproc x { ls; }",
		"(ls)", "{ ls; }", "( ls ) | cat", "ls | (cat)", "((1))", "((a=1))", "let a=1", "[[ -f a ]]", "[[ a ]] && ls", "[ -f a ]", "if ls; then cat; fi", "for a in b; do ls; done", "for ((;;)); do ls; done",
		"while ls; do cat; done", "until ls; do cat; done", "case a in a) ls;; esac", "select a in b; do ls; done", "f() { ls; }", "function f { ls; }", "ls() { cat; }", "ls () cat",
		"export X=1", "declare -i a", "local a", "readonly a", "typeset a", "export PATH=.", "time", "time -p ls", "time ! ls", "time (ls)", "time X=1 ls", "time time ls", "ls | time cat", "{ time ls; }",
		"ls &&", "ls ||", "ls |", "&& ls", "| ls", "; ls", "ls ;; cat", "ls ; ; cat", "ls '", "ls \"", "ls $(", "ls )", "ls `", "if", "esac", "then ls", "done", "ls &|", "ls &! cat", "ls |& ", "ls && && cat",
		// redirects whose target is not literal, or with no command
		"cat <<E\nx\nE", "cat <<-E\nx\nE", "cat <<< x", "cat <<<x", "cat << E", "> out/a", ">out/a 2>&1", "< out/a", "ls > out/a$(rm)", "ls > >(rm)", "(ls) > out/a", "{ ls; } > out/a", "ls > out/é",
		"ls > $x", "ls > *", "ls > ~/x", "ls > ~",
	}
	unlisted := []string{
		"rm x", "ls && rm x", "ls || rm x", "ls; rm x", "ls | rm x", "ls |& rm x", "time rm x", "ls | cat | rm", "rm x | ls", "rm x > /dev/null", "/bin/ls", "./ls", "../ls", "lsx", "LS", "'ls '", "'ls a'", "''", "'' ls",
		"eval ls", "exec ls", "env ls", "sudo ls", "xargs ls", "bash -c ls", "command -v ls", "builtin ls", "source ls", ". ls", "timeout -s 9 1 ls", "echo ls", "ls\\ a", "in", "%1",
	}
	redirect := []string{
		"ls > /tmp/x", "ls > /dev/tcp/h/1", "ls < /etc/passwd", "ls > ../x", "ls > out/../../x", "ls > ..", "ls > .", "ls > out//a", "ls > out/", "ls > ./", "ls > .//etc/x", "ls > ''",
		"ls > /dev/null/../x", "ls > /dev//null", "ls >&/dev/null", "ls >& out/a", "ls >&-", "ls 2>&1-", "ls <&-", "ls >&$x", "ls 10>out/a", "ls {fd}>out/a", "ls {fd}>/dev/null", "ls >&10", "ls >& '1'", "ls > '/dev/null '/x",
		// another directory, another file
		"cd out && ls > out/a", "ls > out/a; cd ..", "pushd a | ls > out/a", "command cd .. && ls >out/a", "popd; ls >>out/a",
		"ls > a", "ls > notes.txt.bak", "ls >> outx/a", "cat < in", "ls > out2", "ls 2> err", "ls &> x", "ls >| x", "ls > -", "ls > a/notes.txt", "ls > 1", "cat <> x", "ls > out/a > x", "ls > 'a b'",
	}
	grants := grant(t, "Bash(ls:*) Bash(cat:*) Bash(cd:*) Bash(pushd:*) Bash(popd:*) Write(out/**) Write(./notes.txt)")
	for rule, commands := range map[string][]string{
		"allowed-tools: shell syntax": syntax, "allowed-tools: not listed": unlisted, "allowed-tools: redirect": redirect,
	} {
		for _, command := range commands {
			if got := check(t, grants, shell(command), policy.Deny); got.Rule != rule {
				t.Errorf("%q: rule %q (%s), want %q", command, got.Rule, got.Reason, rule)
			}
		}
	}
	// With everything granted there is nothing to understand.
	for _, command := range append(syntax, append(unlisted, redirect...)...) {
		for _, declared := range []string{"Bash", "Bash(*)", "Bash(ls:*) exec"} {
			check(t, grant(t, declared), shell(command), policy.Allow)
		}
	}
}

func TestShellFaultsAreNamed(t *testing.T) {
	t.Parallel()
	grants := grant(t, "Bash(ls:*)")
	for command, fault := range map[string]string{
		"ls\nls": "more than one line; join commands with && or ;", "ls # x": "a # character", "ls \\": "a backslash at its end",
		"ls \u202ex": "a control, invisible or bidirectional character (U+202E)", "-x": "a - or + at its beginning",
		"> out/a": "a redirect that belongs to no simple command", "ls $X": "a variable ($…)", "ls *": "an unquoted *",
		"ls <(x)": "a process substitution", "ls $((1))": "shell arithmetic", "X=1 ls": "a variable assignment", "(ls)": "a subshell",
		"f() { ls; }": "a function", "coproc ls": "a coprocess", "ls @(a)": "an extended glob", "export X": "a declaration of variables",
		"if ls; then ls; fi": "a compound command", "ls &": "a background job (&)", "! ls": "a `!`", "ls <<< x": "a here-document",
		"ls '\xff'": "invalid UTF-8", "ls é": "an unquoted character that is not ASCII", "ls $'x'": "a $'…' string", "ls \"$\"": "a $ in double quotes",
	} {
		want := "The command has " + fault + ", so what it runs cannot be checked."
		if got := check(t, grants, shell(command), policy.Deny); got.Reason != want {
			t.Errorf("%q: %q, want %q", command, got.Reason, want)
		}
	}
}

func TestRedirectsNeedLeaveToWrite(t *testing.T) {
	t.Parallel()
	check(t, grant(t, "Bash(ls:*) Write"), shell("ls > anywhere/at-all"), policy.Allow)
	check(t, grant(t, "Bash(ls:*) Write"), shell("ls > /anywhere"), policy.Deny)
	check(t, grant(t, "Bash(ls:*) Read"), shell("ls > a"), policy.Deny)
	check(t, grant(t, "Bash(ls:*) Read"), shell("ls < a"), policy.Deny)
	check(t, grant(t, "Bash(ls:*)"), shell("ls > /dev/null"), policy.Allow)
}

func TestDeepCommands(t *testing.T) {
	t.Parallel()
	grants := grant(t, "Bash(a:*)")
	for _, command := range []string{
		"a" + strings.Repeat("|a", 8_000), "a" + strings.Repeat("&&a", 5_000), strings.Repeat("a;", 8_000), "a" + strings.Repeat(" x", 8_000),
	} {
		check(t, grants, shell(command), policy.Allow)
		check(t, grants, shell(command[:len(command)-2]+" \\"), policy.Deny)
	}
	for _, command := range []string{
		strings.Repeat("(", 16_000), strings.Repeat("$(", 8_000), strings.Repeat("{ ", 8_000), strings.Repeat("! ", 8_000), "a " + strings.Repeat("${x:-", 3_000),
		"time " + strings.Repeat("time ", 3_000) + "a", strings.Repeat("if ", 5_000), "a " + strings.Repeat("\"`", 8_000), strings.Repeat("a() ", 4_000),
	} {
		check(t, grants, shell(command), policy.Deny)
	}
}
