package policy

import (
	"path"
	"strings"
)

// interpretersOf has the programs that authors write before a script with
// this extension.
var interpretersOf = map[string][]string{
	".py":   {"python3", "python"},
	".sh":   {"bash", "sh"},
	".bash": {"bash"},
	".js":   {"node"},
	".mjs":  {"node"},
	".cjs":  {"node"},
	".ts":   {"node"},
	".rb":   {"ruby"},
	".pl":   {"perl"},
	".php":  {"php"},
	".lua":  {"lua"},
	".R":    {"Rscript"},
	".r":    {"Rscript"},
}

// scriptForms returns the commands by which an author may have allowed a
// script of the skill: the path itself, and after its interpreter.
func scriptForms(argv []string) [][]string {
	script := trimDotSlash(argv[0])
	command := append([]string{skillVariable + "/" + script}, argv[1:]...)
	forms := [][]string{command}
	for _, interpreter := range interpretersOf[path.Ext(script)] {
		forms = append(forms, append([]string{interpreter}, command...))
	}
	if !strings.Contains(script, "/") {
		// As a program without a slash in its name.
		forms = append(forms, append([]string{script}, argv[1:]...))
	}
	return forms
}

// toolForms returns the same for a tools.json tool, whose program is either
// a script of the skill, which has a slash in it, or found on PATH.
func toolForms(argv []string) [][]string {
	if strings.Contains(argv[0], "/") && cleanRelative(trimDotSlash(argv[0])) {
		return scriptForms(argv)
	}
	return shellForms(argv)
}

// shellForms returns a command as it is, and without the wrappers before
// it. Only wrappers without flags are taken off: a flag can change what runs,
// and `command -v` runs nothing.
func shellForms(argv []string) [][]string {
	var forms [][]string
	for ; argv != nil; argv = unwrap(argv) {
		forms = append(forms, argv)
	}
	return forms
}

// unwrap takes one wrapper off, or returns nil.
func unwrap(argv []string) []string {
	if !wrappers[argv[0]] {
		return nil
	}
	inner := argv[1:]
	if argv[0] == "timeout" && len(inner) > 0 && isDuration(inner[0]) {
		inner = inner[1:]
	} else if argv[0] == "timeout" {
		return nil
	}
	if len(inner) == 0 || inner[0] == "" || inner[0][0] == '-' {
		return nil
	}
	return inner
}

// isDuration reports whether text is what timeout takes: a decimal number and
// perhaps a unit.
func isDuration(text string) bool {
	number := strings.TrimRight(text, "smhd")
	if len(text)-len(number) > 1 {
		return false
	}
	whole, fraction, _ := strings.Cut(number, ".")
	digits := whole + fraction
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}
