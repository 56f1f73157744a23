package policy

import (
	"path"
	"strings"
)

// token is one word of a command.
type token struct {
	text string // as spelling gives it
	// guarded words turn the rest of the command into another program. Only
	// a pattern that has the very word matches them; no asterisk does.
	guarded bool
}

// set makes a set of space-separated names.
func set(names string) map[string]bool {
	s := make(map[string]bool)
	for _, name := range strings.Fields(names) {
		s[name] = true
	}
	return s
}

var (
	// wrappers run their arguments as a command and change nothing about
	// what it does; without flags they are transparent to patterns, as in
	// Claude Code.
	wrappers = set("timeout time nice nohup stdbuf command")

	// launchers run their arguments as a command.
	launchers = set(`builtin exec env sudo doas su runuser setpriv xargs parallel setsid
		ionice chrt taskset unshare nsenter chroot flock script expect unbuffer watch entr
		strace ltrace gdb perf systemd-run start-stop-daemon busybox toybox ssh nsjail bwrap
		firejail fakeroot proot rlwrap catchsegv numactl prlimit coproc`)

	// interpreters take text as a program, or change what the words of
	// later commands mean.
	interpreters = set(`sh bash dash ash zsh ksh mksh fish csh tcsh rbash pwsh eval source .
		trap alias unalias enable hash declare typeset local export readonly let set shopt
		unset read mapfile readarray getopts compgen complete compopt bind fc history`)

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

// guard marks the words of a command that only their own name in a pattern
// may allow.
func guard(argv []string) []token {
	tokens := make([]token, len(argv))
	for i, text := range argv {
		tokens[i].text = spelling(text)
	}
	if len(argv) == 0 {
		return tokens
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
		tokens[i].guarded = launchers[name] || interpreters[name]
		options = append(options, actions[name]...)
	}
	for i := range tokens[1:] {
		for _, option := range options {
			if strings.HasPrefix(argv[i+1], option) {
				tokens[i+1].guarded = true
			}
		}
	}
	return tokens
}
