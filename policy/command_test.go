package policy_test

import (
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/policy"
)

// The examples of https://code.claude.com/docs/en/permissions, and where this
// package is narrower on purpose.
func TestClaudeCodeExamples(t *testing.T) {
	t.Parallel()
	tests := []struct {
		declared    string
		allow, deny []string
	}{
		{"Bash(npm run build)",
			[]string{"npm run build", "npm  run   build", "npm run 'build'"},
			[]string{"npm run build --watch", "npm run", "npm run builds", "npm install", "'npm run build'"}},
		{"Bash(npm run test:*)",
			[]string{"npm run test", "npm run test --watch"},
			[]string{"npm run test:unit", "npm run tests", "npm run", "npm run build"}},
		{"Bash(npm run test *)",
			[]string{"npm run test", "npm run test --watch"},
			[]string{"npm run test:unit", "npm run"}},
		{"Bash(npm run test*)",
			[]string{"npm run test", "npm run test:unit", "npm run test --watch", "npm run tests -- x"},
			[]string{"npm run", "npm run build", "npm run test/../x"}},
		{"Bash(ls *)", []string{"ls", "ls -la", "ls a b c"}, []string{"lsof", "lsof -i", "/bin/ls", "./ls"}},
		{"Bash(ls:*)", []string{"ls", "ls -la"}, []string{"lsof"}},
		{"Bash(ls*)", []string{"ls", "ls -la", "lsof", "lsof -i"}, []string{"als", "ls/x"}},
		{"Bash(git log *)", []string{"git log", "git log -1"}, []string{"git", "git push", "git logs"}},
		{"Bash(git * main)",
			[]string{"git checkout main", "git push origin main"},
			[]string{"git main", "git push origin main2", "git push origin main --force"}},
		{"Bash(* --version)",
			[]string{"node --version", "git --version"},
			[]string{"--version", "git log --version", "bash --version", "sudo --version", "/usr/bin/env --version"}},
		{"Bash(* --help *)",
			[]string{"npm --help x", "npm --help x y"},
			[]string{"npm --help", "npm run --help x"}},
		{"Bash(git:* push)", []string{"git: push", "git:x push"}, []string{"git push", "git a push"}},
		{"Bash(safe-cmd *)", []string{"safe-cmd", "safe-cmd a && safe-cmd b"}, []string{
			"safe-cmd && other-cmd", "safe-cmd || other-cmd", "safe-cmd ; other-cmd", "safe-cmd | other-cmd",
			"safe-cmd |& other-cmd", "safe-cmd & other-cmd", "safe-cmd\nother-cmd", "safe-cmd $(other-cmd)"}},
		{"Bash(npm *)",
			[]string{"npm test && npm run lint", "npm test;", "npm test"},
			[]string{"npm test &&", "npm test ||", "&& npm test", "npm test |"}},
		{"Bash(grep *), Bash(git commit *)",
			[]string{`grep -E "a|b" file`, `grep -E 'a&&b' file`, `git commit -m "fix: a && b"`, `grep a\&\&b`, `git commit -m 'it'\''s'`},
			[]string{`grep -E a|b file`, `git commit -m fix && b`}},
		{"Bash(npm test *)",
			[]string{"timeout 30 npm test", "timeout 1.5s npm test", "time npm test", "nice npm test", "nohup npm test",
				"stdbuf npm test", "command npm test", "nohup timeout 5m nice npm test x", "time npm test | npm test"},
			[]string{"timeout -k 5 30 npm test", "nice -n 5 npm test", "command -v npm test", "command -p npm test", "time -p npm test",
				"timeout npm test", "timeout 5x npm test", "timeout 5ms npm test", "timeout 5", "nice", "nocorrect npm test", "xargs npm test", "env npm test",
				"/usr/bin/timeout 5 npm test", "X=1 npm test", "time", "timeout 30 npm install", "npm test | time npm test"}},
		{"Bash(xargs grep:*)", []string{"xargs grep pattern"}, []string{"xargs -n1 grep pattern", "xargs bash -c x"}},
		{"Bash(timeout:*)", []string{"timeout -k 1 5 ls"}, []string{"timeout -k 1 5 bash -c x", "timeout 5 /bin/sh x", "time ls"}},
	}
	for _, test := range tests {
		grants := grant(t, test.declared)
		for _, command := range test.allow {
			check(t, grants, shell(command), policy.Allow)
		}
		for _, command := range test.deny {
			check(t, grants, shell(command), policy.Deny)
		}
	}
}

func TestPatternWords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		declared    string
		allow, deny []string
	}{
		{`Bash(git commit -m "a b":*)`, []string{`git commit -m 'a b'`, `git commit -m a\ b x`}, []string{`git commit -m a b`}},
		{`Bash(echo '*')`, []string{`echo '*'`, `echo \*`}, []string{`echo x`, `echo *`}},
		{`Bash(echo \*)`, []string{`echo '*'`}, []string{`echo x`}},
		{`Bash(echo a\:*)`, []string{`echo a:`, `echo a:x y`}, []string{`echo a`, `echo a x`}},
		{`Bash(echo '$HOME')`, []string{`echo '$HOME'`}, []string{`echo $HOME`, `echo "$HOME"`}},
		{`Bash(echo "\$x\\")`, []string{`echo '$x\'`}, []string{`echo x`}},
		{`Bash(echo (a))`, []string{`echo '(a)'`}, []string{`echo (a)`}},
		{`Bash(echo '[a]*'* ?)`, []string{`echo '[a]*b' '?'`}, []string{`echo a b`, `echo '[a]*b' x`}},
		{`Bash(echo *x\*)`, []string{`echo 'ax*'`}, []string{`echo 'ax*' b`, `echo axb`}},
		{`Bash(**)`, []string{"ls", "ls a"}, []string{"ls $(pwd)", "bash x", "scripts/x"}},
		{`Bash(echo '')`, []string{`echo ''`, `echo ""`}, []string{`echo`, `echo a`}},
		{`Bash(a * b * c)`, []string{"a 1 b 2 c", "a b b b c", "a 1 c b 2 c", "a 1 b b c c"}, []string{"a b c", "a 1 b c", "a 1 b 2 c d"}},
		{`Bash(a * b*)`, []string{"a 1 b", "a 1 bx y z", "a 1 2 b c"}, []string{"a b", "a 1 c"}},
		{`Bash(* *)`, []string{"ls a", "ls a b"}, []string{"ls", "bash x", "sudo ls", "eval x"}},
		{`Bash(cat *.txt)`, []string{"cat a.txt"}, []string{"cat ./a.txt", "cat --from=a.txt", "cat -x.txt", "cat d/a.txt", "cat a.txt b.txt", "cat ../a.txt"}},
		{`Bash(tar --file=*)`, []string{"tar --file=a", "tar --file=a x"}, []string{"tar --file=a/b", "tar a"}},
		{`Bash(scripts/*.py)`, []string{"scripts/x.py", "./scripts/x.py"}, []string{
			"scripts/x.py a", "scripts/a/x.py", "scripts/../x.py", "scripts/.././x.py", "/scripts/x.py", "x/scripts/x.py", "scripts//x.py",
			"././scripts/x.py", ".//scripts/x.py", "scripts/x.sh", "../scripts/x.py"}},
		{`Bash(scripts/*.py:*)`, []string{"scripts/x.py", "scripts/x.py a", "./scripts/x.py a b"}, []string{"scripts/a/x.py b", "scripts/../bin/x.py a"}},
		{`Bash(scripts/*)`, []string{"scripts/x", "scripts/x.sh a b"}, []string{"scripts/..", "scripts/../x", "scripts/a/b", "scripts/sh", "scripts/env x"}},
		{`Bash(./scripts/*.py:*)`, []string{"scripts/x.py a", "./scripts/x.py a"}, []string{"../scripts/x.py"}},
		{`Bash(*/*.py)`, []string{"scripts/x.py"}, []string{"../x.py", "/x.py", "a/b/x.py"}},
		{`Bash(/usr/bin/x:*)`, []string{"/usr/bin/x a"}, []string{".//usr/bin/x", "usr/bin/x", "/usr/bin/../bin/x"}},
		{`Bash(./*.sh)`, []string{"./run.sh"}, []string{"run.sh", "../run.sh", "./a/run.sh", "/run.sh"}},
		{`Bash(./run:*)`, []string{"./run a"}, []string{"run a", "/run"}},
		{`Bash(run:*)`, []string{"run a"}, []string{"./run a"}},
	}
	for _, test := range tests {
		grants := grant(t, test.declared)
		for _, command := range test.allow {
			check(t, grants, shellInSkill(command), policy.Allow)
		}
		for _, command := range test.deny {
			check(t, grants, shellInSkill(command), policy.Deny)
		}
	}
}

func TestProgramsThatRunOthersMustBeNamed(t *testing.T) {
	t.Parallel()
	wild := grant(t, "Bash(* *)", "Bash(*sh:*)", "Bash(e*:*)", "Bash(find:*)", "Bash(printf:*)", "Bash(test *)", "Bash(wait:*)")
	commands := []string{
		"jobs -x id", "bash -c id", "sh -c id", "dash x", "zsh x", "fish x", "/bin/bash x", "bin/sh x", "eval id", "exec id", "env id", "sudo id",
		"xargs id", "source x", ". x", "trap id EXIT", "alias x=id", "command eval id", "builtin eval id", "timeout 5 bash x",
		"nohup sh x", "timeout -k 1 5 sudo id", "setsid id", "busybox sh", "nice -n 1 env id", "time sudo id", `\eval id`, `'eval' id`,
		"command export PATH=x", `\declare x=1`, `\let x=1`, "read x", "mapfile -C id x", "set -x", "hash -p x y", "unset 'a[0]'",
		"find . -exec id '{}' ';'", "find . -execdir id ';'", "find . -ok id ';'", "find . -okdir id ';'", "find . -delete",
		"find . -fprintf x y", "find . -fls x", "/usr/bin/find . -delete", "timeout -k 1 5 find . -delete",
		"printf -v 'a[x]' y", "printf -vx y", "test -v 'a[x]'", "test a -a -v b", "wait -p x",
	}
	for _, command := range commands {
		if got := check(t, wild, shell(command), policy.Deny); got.Rule != "allowed-tools: not listed" {
			t.Errorf("%q: %s, %s", command, got.Rule, got.Reason)
		}
	}
	for _, command := range []string{"find . -name x", "printf x y", "test -f x", "grep bash x", "grep -exec x", "ls -delete"} {
		check(t, wild, shell(command), policy.Allow)
	}
	for declared, command := range map[string]string{
		"Bash(bash:*)": "bash -c id", "Bash(/bin/sh:*)": "/bin/sh x", "Bash(eval:*)": "eval id", "Bash(env:*)": "env x",
		"Bash(sudo ls:*)": "sudo ls x", "Bash(xargs:*)": "xargs id", "Bash(sudo bash -c x)": "timeout 3 sudo bash -c x",
		"Bash(find . -exec grep:*)": "find . -exec grep x '{}' ';'", "Bash(find * -delete)": "find . -name x -delete",
		"Bash(printf -v:*)": "printf -v x y",
	} {
		check(t, grant(t, declared), shell(command), policy.Allow)
	}
	for declared, command := range map[string]string{
		"Bash(env:*)": "env bash x", "Bash(xargs:*)": "xargs sh -c x", "Bash(find . -exec grep:*)": "find . -exec grep x ';' -exec rm x ';'",
		"Bash(find * x)": "find . -delete x", "Bash(bash scripts/*)": "bash -c id", "Bash(sh:*)": "/bin/sh x",
		"Bash(/usr/bin/timeout:*)": "/usr/bin/timeout -k 1 5 bash x",
	} {
		check(t, grant(t, declared), shell(command), policy.Deny)
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		declared    string
		allow, deny [][]string
	}{
		{"Bash(scripts/x.py:*)",
			[][]string{{"scripts/x.py"}, {"scripts/x.py", "a", "b"}, {"./scripts/x.py"}, {"scripts/x.py", "$(id)", "a;b", "\n\u202e#\xff", ""}},
			[][]string{{"scripts/y.py"}, {"x.py"}, {"a/scripts/x.py"}, {"scripts/x.py.sh"}}},
		{"Bash(./scripts/x.py a)", [][]string{{"scripts/x.py", "a"}}, [][]string{{"scripts/x.py"}, {"scripts/x.py", "a", "b"}}},
		{"Bash(python3 scripts/x.py:*)", [][]string{{"scripts/x.py"}, {"scripts/x.py", "a"}}, [][]string{{"scripts/y.py"}, {"scripts/x.sh"}}},
		{"Bash(python ./scripts/x.py:*)", [][]string{{"scripts/x.py", "a"}}, nil},
		{"Bash(python3 x.py)", [][]string{{"x.py"}, {"./x.py"}}, [][]string{{"a/x.py"}}},
		{"Bash(python3 ./x.py)", [][]string{{"x.py"}}, nil},
		{"Bash(./x.py:*)", [][]string{{"x.py", "a"}}, [][]string{{"a/x.py"}}},
		{"Bash(bash scripts/x.sh:*)", [][]string{{"scripts/x.sh"}, {"scripts/x.sh", "env", "sudo"}}, [][]string{{"scripts/x.py"}, {"scripts/x"}}},
		{"Bash(sh scripts/x.sh)", [][]string{{"scripts/x.sh"}}, [][]string{{"scripts/x.bash"}}},
		{"Bash(node scripts/x.mjs:*)", [][]string{{"scripts/x.mjs", "a"}}, [][]string{{"scripts/x.rb"}}},
		{"Bash(python3:*)", [][]string{{"scripts/x.py"}, {"x.py", "a"}}, [][]string{{"scripts/x.sh"}}},
		{"Bash(scripts/*.py)", [][]string{{"scripts/x.py"}}, [][]string{{"scripts/x.py", "a"}, {"scripts/a/x.py"}, {"scripts/x.sh"}}},
		{"Bash(scripts/*.py:*)", [][]string{{"scripts/x.py", "a"}}, [][]string{{"scripts/a/x.py"}}},
		{"Bash(python3 scripts/*.py *)", [][]string{{"scripts/x.py", "a"}, {"scripts/x.py"}}, [][]string{{"scripts/x.sh"}}},
		{"Bash(* scripts/x.sh)", nil, [][]string{{"scripts/x.sh"}}},
		{"Bash(timeout 5 scripts/x.sh)", nil, [][]string{{"scripts/x.sh"}}},
		{"Bash", [][]string{{"anything", "at", "all"}}, nil},
		{"Read Write x.py", nil, [][]string{{"x.py"}}},
	}
	for _, test := range tests {
		grants := grant(t, test.declared)
		for _, argv := range test.allow {
			check(t, grants, script(argv...), policy.Allow)
		}
		for _, argv := range test.deny {
			check(t, grants, script(argv...), policy.Deny)
		}
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	lint := tool("lint", "scripts/lint.py", "--json")
	eslint := tool("lint", "eslint", ".")
	tests := []struct {
		declared    string
		allow, deny []policy.Request
	}{
		{"lint", []policy.Request{lint, eslint}, []policy.Request{tool("link", "eslint"), tool("Lint", "eslint"), script("lint"), shell("lint")}},
		{"lint(x)", nil, []policy.Request{lint, eslint}},
		{"Bash(scripts/lint.py:*)", []policy.Request{lint}, []policy.Request{eslint}},
		{"Bash(python3 scripts/lint.py:*)", []policy.Request{lint}, []policy.Request{eslint}},
		{"Bash(eslint:*)", []policy.Request{eslint, tool("x", "timeout", "5", "eslint")}, []policy.Request{lint, tool("x", "bin/eslint"), tool("x", "/bin/eslint")}},
		{"Bash(./eslint:*)", []policy.Request{tool("x", "./eslint")}, []policy.Request{eslint}},
		{"Bash(* *)", []policy.Request{eslint}, []policy.Request{tool("x", "bash", "-c", "id"), tool("x", "/bin/sh", "x")}},
		{"Bash", []policy.Request{lint, eslint, tool("x", "/bin/sh")}, nil},
		// A tool cannot take the name of something else.
		{"Read Write", nil, []policy.Request{tool("Read", "x"), tool("Write", "x")}},
	}
	for _, test := range tests {
		grants := grant(t, test.declared)
		for _, request := range test.allow {
			check(t, grants, request, policy.Allow)
		}
		for _, request := range test.deny {
			check(t, grants, request, policy.Deny)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern     string
		allow, deny string // separated by spaces
	}{
		{"references/a.md", "references/a.md", "a.md references x/references/a.md references/a.md/b"},
		{"./references/a.md", "references/a.md", "x/references/a.md"},
		{"/references/*.md", "references/a.md", "references/b/a.md references/a.txt references"},
		{"*.md", "a.md b/a.md b/c/a.md", "a.txt a.md/b"},
		{"./*.md", "a.md", "b/a.md"},
		{"/*.md", "a.md", "b/a.md"},
		{"a.md", "a.md b/a.md", "ba.md a.mdx"},
		{"docs/**", "docs docs/a docs/a/b", "doc docsx a/docs/b ."},
		{"docs/", "docs docs/a docs/a/b", "a/docs/b"},
		{"**/docs/*", "docs/a x/docs/a x/y/docs/a", "docs docs/a/b"},
		{"a/**/b", "a/b a/x/b a/x/y/b a/b/b", "a b a/x a/b/c"},
		{"a/**/b/**/c", "a/b/c a/1/b/2/c a/b/b/c a/c/b/c", "a/c a/b a/c/b"},
		{"**", ". a a/b", ""},
		{"**/*", "a a/b", "."},
		{"?.md", "a.md x/b.md é.md", "ab.md .md"},
		{"a/?/b", "a/x/b", "a//b a/xx/b a/b"},
		{"[id].tsx", "[id].tsx", "i.tsx d.tsx"},
		{"a b.md", "", "a b.md"},
	}
	for _, test := range tests {
		for _, kind := range []struct {
			name    string
			request func(string) policy.Request
		}{{"Read", read}, {"Edit", write}} {
			grants := grant(t, kind.name+"("+test.pattern+")")
			for _, path := range strings.Fields(test.allow) {
				if kind.name == "Edit" && path == "." {
					continue // no file to write
				}
				check(t, grants, kind.request(path), policy.Allow)
			}
			for _, path := range strings.Fields(test.deny) {
				check(t, grants, kind.request(path), policy.Deny)
			}
		}
	}
	check(t, grant(t, "Read(a b.md)"), read("a b.md"), policy.Allow)
	check(t, grant(t, "Read(docs/**)"), write("docs/a"), policy.Deny)
	check(t, grant(t, "Write(docs/**)"), read("docs/a"), policy.Deny)
}

func TestEntriesThatGrantAnyProgram(t *testing.T) {
	t.Parallel()
	for _, declared := range []string{
		"Bash(timeout:*)", "Bash(timeout 5:*)", "Bash(nice -n 5 *)", "Bash(nohup *)", "Bash(env A=b:*)", "Bash(xargs -n1:*)", "Bash(jobs -x:*)", "Bash(sudo:*)", "Bash(bash:*)",
		"Bash(/bin/sh -c:*)", "Bash(python3.12:*)", "Bash(node:*)", "Bash(* *)", "Bash(time * x)", "Bash(eval:*)",
	} {
		if got := grant(t, "Bash(ls:*) Read", declared).AnyProgram(); len(got) != 1 || got[0] != declared {
			t.Errorf("%s is not said to grant any program: %q", declared, got)
		}
	}
	if got := grant(t, "Bash(timeout 5 ls:*) Bash(timeout) Bash(python3 scripts/x.py:*) Bash(xargs grep:*) Bash(ls:*) Bash(git:*) Read Write nice Bash Bash(bash -c id)").AnyProgram(); got != nil {
		t.Errorf("%q are said to grant any program", got)
	}
	if got := (*policy.Grants)(nil).AnyProgram(); got != nil {
		t.Errorf("nothing declared grants %q", got)
	}
}
