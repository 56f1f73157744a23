package server

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/catalog"
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

// entryFault says how a skill breaks the Agent Skills specification, to which
// every skill served by the extension must conform (SEP-2640, Skill Format),
// or nothing. Hosts check the entries of skills/list: to the official SDK's
// client one entry that breaks a rule spoils the listing of all. Such a skill
// is left out of the listing, which may be partial, and is served otherwise.
func entryFault(skill *catalog.Skill) string {
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
	if !isString || len(name) > maxSkillName || !skillNamePattern.MatchString(name) {
		return "its name is not 1 to 64 lowercase letters, digits and single hyphens"
	}
	description, isString := jsonString(fields["description"])
	if !isString || strings.TrimSpace(description) == "" || utf8.RuneCountInString(description) > maxDescription {
		return "its description is not a string of 1 to 1024 characters"
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
