// Package shellword writes what others chose into commands that people are told to
// run.
package shellword

import (
	"strings"
	"unicode"
)

// Name returns the name of a skill as one word of a shell command, quoted where a
// shell would make more of it; NAME stands for one that a program takes for an
// option, which no quotes change.
func Name(name string) string {
	switch {
	case strings.HasPrefix(name, "-"):
		return "NAME"
	case name != "" && strings.IndexFunc(name, isSpecial) < 0:
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// isSpecial reports whether a shell may take a character for more than itself.
func isSpecial(c rune) bool {
	return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("-_.", c)
}
