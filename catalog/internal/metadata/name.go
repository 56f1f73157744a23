package metadata

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// name checks the name as the reference validator does: after Unicode NFKC,
// lowercase letters and digits of any script, and single inner hyphens.
func (v *validator) name(dirName string) {
	text, f, found, plain := v.text("name")
	name := strings.TrimSpace(text)
	switch {
	case !found || name == "":
		v.Add("name-missing", cmp.Or(f.At, firstLine), "there is no name")
		return
	case !plain:
		v.Add("name-missing", f.At, "the name is not a string")
		return
	case unusableName(name):
		v.Add("name-unusable", f.At, "the name %q cannot be part of a URI or of a line of text", problem.Clip(name))
		return
	case utf8.RuneCountInString(name) > maxNameChars:
		v.Add("name-length", f.At, "the name has %d characters, more than %d", utf8.RuneCountInString(name), maxNameChars)
		return
	}
	v.read.Name = name
	if !f.Value.IsString() {
		v.Add("name-type", f.At, "the name %s is not a string in YAML", name)
	}
	normal := norm.NFKC.String(name)
	if fault := nameFault(normal); fault != "" {
		v.Add("name-format", f.At, "the name %q %s", name, fault)
	}
	if dirName != "" && norm.NFKC.String(dirName) != normal {
		v.Add("name-directory", f.At, "the skill %q lies in the directory %q", name, problem.Clip(dirName))
	}
}

// NameFault says what the reference validator has against a name, or nothing.
func NameFault(name string) string {
	if name == "" {
		return "is empty"
	}
	return nameFault(norm.NFKC.String(name))
}

// unusableName reports whether a name would break what it is put into: a URI's
// path segment, a line of a list, a terminal.
func unusableName(name string) bool {
	return name == "." || name == ".." || strings.ContainsFunc(name, func(c rune) bool {
		return c == '/' || c == '\\' || c == utf8.RuneError || !unicode.IsPrint(c)
	})
}

// nameFault says what is wrong with the format of a name in NFKC, or nothing.
func nameFault(name string) string {
	switch {
	case utf8.RuneCountInString(name) > maxNameChars:
		return "is longer than 64 characters in Unicode NFKC"
	case strings.ToLower(name) != name:
		return "is not lowercase"
	case strings.HasPrefix(name, "-"), strings.HasSuffix(name, "-"):
		return "has a hyphen at its edge"
	case strings.Contains(name, "--"):
		return "has two hyphens in a row"
	}
	for _, c := range name {
		if c != '-' && !unicode.IsLetter(c) && !unicode.IsNumber(c) {
			return "has characters other than letters, digits and hyphens"
		}
	}
	return ""
}
