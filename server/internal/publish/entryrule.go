package publish

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// Limits of the Agent Skills specification, in characters.
const (
	maxSkillName     = 64
	maxDescription   = 1024
	maxCompatibility = 500
)

// skillNamePattern is the specification's rule for names, which hosts apply
// to ASCII only.
var skillNamePattern = regexp.MustCompile(`^[0-9a-z]+(-[0-9a-z]+)*$`)

// misreadRules are those of the catalog whose breach it forgives, while
// another reader of YAML sees another frontmatter or none. Hosts compare what
// they read with the entry, and load no skill where it differs (SEP-2640,
// Frontmatter Verification).
var misreadRules = map[string]bool{
	"frontmatter-blank-lines": true,
	"yaml-colon":              true,
	"yaml-tag":                true,
	"yaml-number":             true,
}

// EntryFault says why skills/list leaves a skill out, or nothing where it does
// not. The tools, prompts and resources serve it all the same.
func EntryFault(skill *catalog.Skill) string {
	if fault := frontmatterFault(skill); fault != "" {
		return fault
	}
	dir, err := skills.Open(skill)
	if err != nil {
		return "" // what is gone is in no listing
	}
	defer dir.Close()
	entries, _, _ := dir.List(".", contained.MaxEntries)
	var files []string
	for _, entry := range entries {
		if !entry.Dir {
			files = append(files, entry.Path)
		}
	}
	return filesFault(skill, files)
}

// fault says why skills/list leaves an entry out, or nothing.
func (e skillEntry) fault() string {
	return cmp.Or(frontmatterFault(e.skill), filesFault(e.skill, e.files))
}

// frontmatterFault says how a skill breaks the Agent Skills specification, to
// which every skill served by the extension must conform (SEP-2640, Skill
// Format), or nothing. Hosts check the entries of skills/list: to the clients of
// FastMCP, fast-agent and the official SDKs one entry that breaks a rule of
// theirs spoils the listing of all. Such a skill is left out of the listing,
// which may be partial, and is served otherwise.
func frontmatterFault(skill *catalog.Skill) string {
	for _, problem := range skill.Problems() {
		if misreadRules[problem.Rule] {
			return "other YAML readers see another frontmatter"
		}
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(skill.Frontmatter, &fields) != nil {
		return "its frontmatter is no object"
	}
	name, isString := jsonString(fields["name"])
	if !isString || len(name) > maxSkillName || !skillNamePattern.MatchString(name) || slices.Contains(reservedNames, name) {
		return "its name is not 1 to 64 lowercase letters, digits and single hyphens"
	}
	description, isString := jsonString(fields["description"])
	if !isString || blankText(description) || utf8.RuneCountInString(description) > maxDescription {
		return "its description is not a string of 1 to 1024 characters"
	}
	for _, key := range []string{"license", "allowed-tools"} {
		if raw, given := fields[key]; given {
			if _, isString := jsonString(raw); !isString {
				return "its " + key + " is not a string"
			}
		}
	}
	if _, given := fields["__proto__"]; given {
		return "it has a field __proto__"
	}
	if !finiteNumbers(skill.Frontmatter) {
		return "it has a number that is too large"
	}
	if raw, given := fields["compatibility"]; given {
		compatibility, isString := jsonString(raw)
		if !isString || compatibility == "" || utf8.RuneCountInString(compatibility) > maxCompatibility {
			return "its compatibility is not a string of 1 to 500 characters"
		}
	}
	if raw, given := fields["metadata"]; given && !isStringMap(raw) {
		return "its metadata does not map strings to strings"
	}
	return ""
}

// blankText reports whether a text is empty to readers of any language: they
// differ in what space is.
func blankText(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\ufeff' }) == ""
}

// finiteNumbers reports whether every number of a JSON text is one to readers
// that keep it as a float: to others it is infinite.
func finiteNumbers(text []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		if number, ok := token.(json.Number); ok {
			if _, err := number.Float64(); err != nil {
				return false
			}
		}
	}
}

// jsonString decodes a JSON string; null is none.
func jsonString(raw json.RawMessage) (text string, isString bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return text, json.Unmarshal(raw, &text) == nil
}

func isStringMap(raw json.RawMessage) bool {
	var values map[string]json.RawMessage
	if json.Unmarshal(raw, &values) != nil || values == nil {
		return false
	}
	for _, value := range values {
		if _, isString := jsonString(value); !isString {
			return false
		}
	}
	return true
}
