package needs

import (
	"regexp"
	"strings"
	"sync"

	"github.com/skills-mcp/skills-mcp/internal/lazyregexp"
)

// pep508 is what is taken of PEP 508: no URL, and nothing that a file of
// requirements could read as more than one requirement.
var pep508 = sync.OnceValue(func() *regexp.Regexp {
	const (
		name    = `[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?`
		version = `(?:===?|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9.*+!_-]+`
		list    = version + `(?:\s*,\s*` + version + `)*,?`
	)
	return regexp.MustCompile(`^(` + name + `)\s*(\[\s*` + name + `(?:\s*,\s*` + name + `)*\s*\])?\s*(?:\(\s*(` + list + `)\s*\)|(` + list + `))?` +
		`\s*(?:;\s*([A-Za-z0-9_.'"<>=!~() ,*+-]+))?$`)
})

// maxText is how long a requirement may be.
const maxText = 300

// separators are what PEP 503 makes one hyphen.
var separators = regexp.MustCompile(`[-_.]+`)

// normalized returns a name as PEP 503 has it.
func normalized(name string) string { return strings.ToLower(separators.ReplaceAllString(name, "-")) }

// parsePython reads a requirement of Python.
func parsePython(text string) (Requirement, bool) {
	text = strings.TrimSpace(text)
	parts := pep508().FindStringSubmatch(text)
	if parts == nil || len(text) > maxText || strings.Contains(parts[5], " -") {
		return Requirement{}, false
	}
	r := Requirement{Name: normalized(parts[1])}
	unspaced := func(text string) string { return strings.Join(strings.Fields(text), "") }
	r.Text = r.Name + unspaced(parts[2]) + strings.TrimSuffix(unspaced(parts[3]+parts[4]), ",")
	if marker := strings.TrimSpace(parts[5]); marker != "" {
		r.Text += "; " + marker
	}
	return r, true
}

// npmSpec is a package of npm's registry and a range of versions.
var npmSpec = lazyregexp.New(`^((?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*)(?:@([\w.+^~<>=|* -]*))?$`)

// parseNpm reads "name" or "name@range", without other kinds of sources.
func parseNpm(text string) (Requirement, bool) {
	parts := npmSpec().FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil || len(text) > maxText || strings.HasPrefix(parts[1], "-") {
		return Requirement{}, false
	}
	version := strings.TrimSpace(parts[2])
	if version == "" || version == "latest" {
		version = "*"
	}
	return Requirement{Name: parts[1], Text: parts[1] + "@" + version}, true
}
