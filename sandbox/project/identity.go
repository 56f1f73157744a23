package project

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// maxIncludes is how many files a git configuration of the user may consist of.
const maxIncludes = 16

// IdentityOptions say where [Identity] reads.
type IdentityOptions struct {
	// Configs are git's configurations that say who the user is, those that win
	// first, such as PROJECT/.git/config, ~/.gitconfig and
	// ~/.config/git/config. They need not be there.
	Configs []string
	// Home is what a ~ in include.path means; if empty, such files are not read.
	Home string
	// Trusted is how many of the last of Configs are the user's own: of these,
	// files named by include.path are read too. Conditional ones are not.
	Trusted int
}

// Identity returns the environment that git needs to make commits as the user:
// name and e-mail, where they are configured, and nothing else of the user's
// configuration. In it git works in all directories, whoever their owner is as
// the sandbox shows them: there is no other boundary to keep than the sandbox.
func Identity(o IdentityOptions) map[string]string {
	env := map[string]string{}
	var name, email string
	for i, path := range o.Configs {
		user := map[string]string{}
		eachSetting(path, o.Home, func(s setting) (include bool) {
			if s.section == "user" && s.subsection == "" {
				user[s.key] = oneLine(s.value)
			}
			return s.section == "include" && s.subsection == "" && len(o.Configs)-i <= o.Trusted
		})
		name, email = cmp.Or(name, user["name"]), cmp.Or(email, user["email"])
	}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		if name != "" {
			env["GIT_"+who+"_NAME"] = name
		}
		if email != "" {
			env["GIT_"+who+"_EMAIL"] = email
		}
	}
	env["GIT_CONFIG_COUNT"], env["GIT_CONFIG_KEY_0"], env["GIT_CONFIG_VALUE_0"] = "1", "safe.directory", "*"
	return env
}

// eachSetting calls visit with the variables of a configuration, and of those that
// it includes where visit says that this is an include to be followed.
func eachSetting(path, home string, visit func(setting) (include bool)) {
	files := 0
	var read func(path string)
	read = func(path string) {
		if files++; files > maxIncludes {
			return
		}
		for _, s := range parseConfig(readSmall(path)) {
			if visit(s) && s.key == "path" {
				if included, ok := includedPath(path, home, s.value); ok {
					read(included)
				}
			}
		}
	}
	read(path)
}

// includedPath returns the path of an included file.
func includedPath(from, home, value string) (string, bool) {
	rest, inHome := strings.CutPrefix(value, "~/")
	switch {
	case inHome:
		return filepath.Join(home, rest), home != ""
	case value == "" || value[0] == '~' || value[0] == '%':
		return "", false
	case filepath.IsAbs(value):
		return value, true
	}
	return filepath.Join(filepath.Dir(from), value), true
}

// readSmall returns what a regular file holds, or nothing.
func readSmall(path string) string {
	file, err := os.OpenFile(path, os.O_RDONLY|openflag.NonBlock, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxConfigBytes {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(file, maxConfigBytes))
	if err != nil {
		return ""
	}
	return string(text)
}

// oneLine returns a name that an environment can carry and git takes.
func oneLine(value string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == '<' || c == '>' {
			return -1
		}
		return c
	}, value))
}
