package policy

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// token is one word of a command.
type token struct {
	text string // as [location.text] returns it
	// skill is the path of the skill's own file that the word names, or empty.
	skill string
	// exact words turn the rest of the command into another program. Only
	// a pattern that has the very word matches them; no asterisk does.
	exact bool
}

// set makes a set of space-separated names.
func set(names string) map[string]bool {
	s := make(map[string]bool)
	for _, name := range strings.Fields(names) {
		s[name] = true
	}
	return s
}

func union(sets ...map[string]bool) map[string]bool {
	all := make(map[string]bool)
	for _, s := range sets {
		maps.Copy(all, s)
	}
	return all
}

var (
	// wrappers run their arguments as a command and change nothing about
	// what it does; without flags they are transparent to patterns, as in
	// Claude Code.
	wrappers = set("timeout time nice nohup stdbuf command")

	// launchers run their arguments as a command.
	launchers = set(`builtin exec jobs env sudo doas su runuser pkexec setpriv xargs parallel
		setsid setarch ionice chrt taskset choom unshare nsenter chroot flock script expect
		unbuffer watch entr strace ltrace gdb perf systemd-run start-stop-daemon run-parts
		busybox toybox ssh nsjail bwrap firejail fakeroot faketime proot rlwrap catchsegv
		numactl prlimit cpulimit dumb-init tini screen tmux coproc`)

	// evaluators are builtins of the shell that take text as a program, or
	// change what the words of later commands mean.
	evaluators = set(`eval source . trap alias unalias enable hash declare typeset local export
		readonly let set shopt unset read mapfile readarray getopts compgen complete compopt
		bind fc history`)

	shells = set("sh bash dash ash zsh ksh mksh fish csh tcsh rbash pwsh")

	// interpreters take text as a program, or change what the words of
	// later commands mean.
	interpreters = union(evaluators, shells)

	// scriptRunners run the file that their first argument names.
	scriptRunners = union(shells, set(`source . python pypy node nodejs ruby perl php lua luajit
		Rscript tsx ts-node julia tclsh escript`))

	// runners run a file or a package that one of their arguments names.
	runners = set(`deno bun bunx npx pnpm yarn uv uvx pipx poetry pipenv hatch rye conda mamba
		micromamba awk gawk mawk nawk java`)

	// actions are prefixes of options by which a program runs others or, in
	// the shell's builtins, evaluates text.
	actions = map[string][]string{
		"find":   {"-exec", "-ok", "-delete", "-fprint", "-fls"},
		"printf": {"-v"},
		"test":   {"-v", "-R"},
		"[":      {"-v", "-R"},
		"wait":   {"-p"},
	}
)

// tokenize returns the words of a command, and marks those that only their own
// name in a pattern may allow.
func tokenize(argv []string, at location) []token {
	tokens := make([]token, len(argv))
	for i, text := range argv {
		tokens[i] = token{text: at.text(text), skill: at.skillPath(text)}
	}
	if len(argv) == 0 {
		return tokens
	}
	if !strings.ContainsAny(argv[0], "/"+skillVariable) {
		tokens[0].skill = "" // found on PATH
	}
	program := path.Base(argv[0])
	// What a launcher starts may be any of its arguments, since its options
	// are not known here.
	programs := argv[:1]
	if wrappers[program] || launchers[program] {
		programs = argv
	}
	var options []string
	for i, text := range programs {
		name := path.Base(text)
		tokens[i].exact = launchers[name] || interpreters[name]
		options = append(options, actions[name]...)
	}
	for i := range tokens[1:] {
		for _, option := range options {
			if strings.HasPrefix(argv[i+1], option) {
				tokens[i+1].exact = true
			}
		}
	}
	return tokens
}

// setsVariables reports whether a command could change what a variable means
// to the commands after it.
func setsVariables(argv []string) bool {
	programs := argv[:1]
	if wrappers[argv[0]] || launchers[argv[0]] {
		programs = argv
	}
	for _, name := range programs {
		if evaluators[name] {
			return true
		}
		for _, option := range actions[name] {
			if slices.ContainsFunc(argv, func(text string) bool { return strings.HasPrefix(text, option) }) {
				return true
			}
		}
	}
	return false
}
