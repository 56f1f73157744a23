package catalog

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

// Limits of https://agentskills.io/specification, in characters.
const (
	maxNameChars          = 64
	maxDescriptionChars   = 1024
	maxCompatibilityChars = 500
)

// extensionKeys are keys that Claude Code gives a meaning and the
// specification does not know.
var extensionKeys = []string{
	"agent", "argument-hint", "arguments", "context", "disable-model-invocation", "effort", "hooks",
	"model", "paths", "shell", "user-invocable", "version", "when_to_use",
}

// validator turns a frontmatter into a skill.
type validator struct {
	*report
	mapping
	byKey map[string]field
	skill *Skill
}

// validate checks a frontmatter against the specification. dirName is the
// name that the skill must have, or empty if any will do; prefix is the
// root's. The skill is nil where the frontmatter is of no use.
func validate(r *report, m mapping, dirName, prefix string) *Skill {
	v := &validator{report: r, mapping: m, byKey: make(map[string]field, len(m.fields)), skill: &Skill{Frontmatter: m.json}}
	for _, f := range m.fields {
		v.byKey[f.key] = f
	}
	v.name(dirName)
	v.description()
	v.license()
	v.compatibility()
	v.metadata()
	v.allowedTools()
	v.otherKeys()
	for i := range r.problems {
		r.problems[i].Skill = v.skill.Name
	}
	if r.errors > 0 {
		return nil
	}
	v.skill.Path = path.Join(prefix, v.skill.Name)
	return v.skill
}

// text gives a field as its author wrote it. found is false where the key is
// absent or null; plain is false where the value is a collection, which is
// then given as JSON.
func (v *validator) text(key string) (text string, f field, found, plain bool) {
	f, found = v.byKey[key]
	if !found || isNull(f.value) {
		return "", f, false, false
	}
	if f.value.Kind != yaml.ScalarNode {
		return compactJSON(f.value), f, true, false
	}
	return f.value.Value, f, true, true
}

func (v *validator) description() {
	text, f, found, plain := v.text("description")
	trimmed := strings.TrimSpace(text)
	switch {
	case !found || trimmed == "":
		v.add("description-missing", orFirstLine(f.at), "there is no description")
		return
	case !plain:
		v.add("description-missing", f.at, "the description is not a string")
		return
	case compactJSON(f.value)[0] != '"':
		v.add("description-type", f.at, "the description %s is not a string in YAML", clip(trimmed))
	}
	if n := utf8.RuneCountInString(text); n > maxDescriptionChars {
		v.add("description-length", f.at, "the description has %d characters, more than %d", n, maxDescriptionChars)
	}
	v.skill.Description = truncate.To(trimmed, maxDescriptionChars)
}

func (v *validator) license() {
	text, f, found, plain := v.text("license")
	if found && !plain {
		v.add("license-type", f.at, "the license is not a string")
		return
	}
	v.skill.License = text
}

func (v *validator) compatibility() {
	text, f, _, plain := v.text("compatibility")
	if strings.TrimSpace(text) == "" {
		if f.value != nil {
			v.add("compatibility-empty", f.at, "compatibility says nothing")
		}
		return
	}
	if !plain {
		v.add("compatibility-type", f.at, "compatibility is not a string")
	} else if n := utf8.RuneCountInString(text); n > maxCompatibilityChars {
		v.add("compatibility-length", f.at, "compatibility has %d characters, more than %d", n, maxCompatibilityChars)
	}
	v.skill.Compatibility = text
}

func (v *validator) metadata() {
	_, f, found, _ := v.text("metadata")
	if !found {
		return
	}
	if f.value.Kind != yaml.MappingNode {
		v.add("metadata-type", f.at, "metadata is not a mapping")
		return
	}
	v.skill.Metadata = make(map[string]string, len(f.value.Content)/2)
	for i := 0; i+1 < len(f.value.Content); i += 2 {
		key, value := target(f.value.Content[i]), target(f.value.Content[i+1])
		encoded := compactJSON(value)
		if encoded[0] != '"' {
			v.add("metadata-value", v.at(f.value.Content[i]), "metadata.%s is not a string", clip(key.Value))
		}
		if value.Kind == yaml.ScalarNode {
			encoded = value.Value
		}
		v.skill.Metadata[key.Value] = encoded
	}
}

func (v *validator) otherKeys() {
	known := []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools", "allowed_tools"}
	var extensions []string
	var first position
	for _, f := range v.fields {
		switch {
		case slices.Contains(known, f.key) || meansAllowedTools(f.key):
		case slices.Contains(extensionKeys, f.key):
			if extensions == nil {
				first = f.at
			}
			extensions = append(extensions, f.key)
		default:
			folded := strings.ReplaceAll(strings.ToLower(f.key), "_", "-")
			if slices.Contains(known, folded) {
				v.add("unknown-key", f.at, "the key %q is not in the specification; it has %q", clip(f.key), folded)
			} else {
				v.add("unknown-key", f.at, "the key %q is not in the specification", clip(f.key))
			}
		}
	}
	if extensions != nil {
		v.add("extension-key", first, "not in the specification, and known to some hosts only: %s", strings.Join(extensions, ", "))
	}
}

// orFirstLine places a problem with what is not there.
func orFirstLine(at position) position {
	if at.line == 0 {
		return position{1, 1}
	}
	return at
}

func isNull(n *yaml.Node) bool { return compactJSON(n) == "null" }

// compactJSON encodes a value that has been encoded before as part of the
// whole, so that it is known to be within bounds.
func compactJSON(n *yaml.Node) string {
	e := &encoder{report: &report{}}
	if err := e.value(n, n); err != nil {
		return "null"
	}
	return string(bytes.TrimSpace(e.out.Bytes()))
}
