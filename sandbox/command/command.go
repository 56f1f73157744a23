// Package command decides what is started for a [sandbox.Spec]: which program,
// with which arguments and which environment. It is what the backends share, and
// how others learn what a script needs.
package command

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Lookup finds a program as the sandbox would: by name on its PATH, or by an
// absolute path. It returns the path to start.
type Lookup func(name string) (path string, found bool)

// Line returns what a backend starts for a spec: the path of the program,
// found by look, followed by its arguments. The skill's directory is seen as
// skillDir by the program, which is the spec's own where the sandbox shares the
// host's paths. What is in one of s.Path is found by its name before all else, but
// for the shell. Errors are of type [sandbox.SetupError].
func Line(s sandbox.Spec, skillDir string, look Lookup) ([]string, error) {
	if err := check(s); err != nil {
		return nil, err
	}
	switch {
	case s.Script != "":
		return scriptLine(s, skillDir, look)
	case s.Shell != "":
		return shellLine(s.Shell, look)
	}
	program, found := look.after(s.Path)(s.Argv[0])
	if !found {
		return nil, &sandbox.SetupError{
			Rule:    "program-missing",
			Message: fmt.Sprintf("there is no program %q in the sandbox", s.Argv[0]),
			Hint:    "Use a program that is installed, or a script of the skill.",
		}
	}
	return append([]string{program}, s.Argv[1:]...), nil
}

func scriptLine(s sandbox.Spec, skillDir string, look Lookup) ([]string, error) {
	choices, err := interpreters(s.SkillDir, s.Script)
	if err != nil {
		return nil, err
	}
	script := path.Join(filepath.ToSlash(skillDir), s.Script)
	if choices == nil { // its own program
		return append([]string{script}, s.Args...), nil
	}
	for _, choice := range choices {
		// "#!/usr/bin/python3" means the Python that has the script's packages.
		program, found := look.in(s.Path, path.Base(choice[0]))
		if !found {
			program, found = look(choice[0])
		}
		if found {
			return slices.Concat([]string{program}, choice[1:], []string{script}, s.Args), nil
		}
	}
	return nil, missingInterpreter(s.Script, choices)
}

// maxArgument is how long one argument may be, in bytes. Linux takes 128 KiB, and
// 2 MiB of all together.
const maxArgument = 96 << 10

// join is what runs a program that comes in several arguments. That sees none of
// them, and variables as they always are.
const join = `IFS=; set -- "$*"; IFS=` + "' \t\n'" + `; eval "shift;$1"`

// shellLine ends the shell's own options before the program, which else would
// be taken for one where it begins with a hyphen.
func shellLine(program string, look Lookup) ([]string, error) {
	if bash, found := look("bash"); found {
		return append([]string{bash, "--noprofile", "--norc", "-c", "--"}, shellArguments(bash, program)...), nil
	}
	if sh, found := look("sh"); found {
		return append([]string{sh, "-c", "--"}, shellArguments(sh, program)...), nil
	}
	return nil, &sandbox.SetupError{
		Rule:    "interpreter-missing",
		Message: "there is neither bash nor sh in the sandbox",
		Hint:    "Run a script of the skill instead of a shell command.",
	}
}

// shellArguments returns a program, or what puts it together again, the shell's own
// name, and the parts of it, none of which ends within a character.
func shellArguments(shell, program string) []string {
	if len(program) <= maxArgument {
		return []string{program}
	}
	arguments := []string{join, shell}
	for len(program) > maxArgument {
		end := maxArgument
		for end > maxArgument-utf8.UTFMax && !utf8.RuneStart(program[end]) {
			end--
		}
		arguments, program = append(arguments, program[:end]), program[end:]
	}
	return append(arguments, program)
}

// check refuses a spec that no backend could run as it is meant.
func check(s sandbox.Spec) error {
	ways := 0
	for _, set := range []bool{s.Script != "", s.Shell != "", len(s.Argv) > 0} {
		if set {
			ways++
		}
	}
	switch {
	case ways != 1:
		return invalidSpec("exactly one of script, shell command and program must be given")
	case s.Script == "" && len(s.Args) > 0:
		return invalidSpec("arguments are for scripts only")
	case len(s.Argv) > 0 && s.Argv[0] == "":
		return invalidSpec("the program's name is empty")
	case (s.Script != "" || s.InSkill) && s.SkillDir == "":
		return invalidSpec("no skill directory is given")
	case s.InSkill && s.InProject:
		return invalidSpec("a program starts in one directory")
	}
	for _, text := range slices.Concat([]string{s.Script, s.Shell}, s.Argv, s.Args) {
		if strings.ContainsRune(text, 0) {
			return invalidSpec("a NUL byte cannot be part of a command line")
		}
	}
	return nil
}

func invalidSpec(message string) error {
	return &sandbox.SetupError{Rule: "spec-invalid", Message: message, Hint: "Correct the call and try again."}
}
