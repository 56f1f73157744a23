package policy

// SkillVariable stands for the value of $SKILL_DIR in what Program returns.
const SkillVariable = skillVariable

// Program returns what a shell program of the strict subset is taken to run and
// the workspace paths it is taken to open.
func Program(command string) (commands [][]string, files []string, err error) {
	parsed, err := parseProgram(command)
	return parsed.commands, parsed.files, err
}
