// Package metadata reads what the frontmatter of an entry document says of a
// skill, and holds it to the specification.
package metadata

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/catalog/internal/frontmatter"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
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

// Metadata is what a skill says of itself. The fields are those of [catalog.Skill].
type Metadata struct {
	Name, Description, Compatibility string
	AllowedTools                     []string
	UserOnly, ModelOnly              bool
	Frontmatter                      json.RawMessage
}

// Valid reports whether the metadata, which was kept somewhere, is such as Parse
// returns: what is put into URIs, texts and JSON breaks none of them.
func (m *Metadata) Valid() bool {
	return m.Name != "" && !unusableName(m.Name) && utf8.RuneCountInString(m.Name) <= maxNameChars &&
		m.Description != "" && utf8.ValidString(m.Description) && utf8.RuneCountInString(m.Description) <= maxDescriptionChars &&
		utf8.ValidString(m.Compatibility) && !slices.ContainsFunc(m.AllowedTools, func(tool string) bool { return !utf8.ValidString(tool) }) &&
		bytes.HasPrefix(m.Frontmatter, []byte("{")) && utf8.Valid(m.Frontmatter) && json.Valid(m.Frontmatter)
}

// Parse reads the metadata in the head of an entry document. dirName is the name
// that the skill must have, or empty if any will do. The result is nil where the
// head is of no use, or breaks a rule that is an error.
func Parse(r *problem.Report, head []byte, dirName string) *Metadata {
	p := frontmatter.Split(r, head, len(head) < frontmatter.MaxHeadBytes)
	if !p.Found {
		return nil
	}
	m, ok := frontmatter.Decode(r, p.YAML, p.Line)
	if !ok {
		return nil
	}
	read := validate(r, m, dirName)
	if read != nil && r.Mode == problem.Strict && referenceRefuses(r, head, p, dirName) {
		return nil
	}
	return read
}

// validator turns a frontmatter into metadata.
type validator struct {
	*problem.Report
	fields []frontmatter.Field
	byKey  map[string]frontmatter.Field
	read   *Metadata
}

// validate checks a frontmatter against the specification. The metadata is nil
// where the frontmatter is of no use.
func validate(r *problem.Report, m frontmatter.Mapping, dirName string) *Metadata {
	v := &validator{Report: r, fields: m.Fields, byKey: make(map[string]frontmatter.Field, len(m.Fields)), read: &Metadata{Frontmatter: m.JSON}}
	for _, f := range m.Fields {
		v.byKey[f.Key] = f
	}
	v.name(dirName)
	v.description()
	v.license()
	v.compatibility()
	v.metadata()
	v.allowedTools()
	v.read.UserOnly = v.says("disable-model-invocation", "true")
	v.read.ModelOnly = v.says("user-invocable", "false")
	v.otherKeys()
	for i := range r.Problems {
		r.Problems[i].Skill = v.read.Name
	}
	if r.Errors > 0 {
		return nil
	}
	return v.read
}

// text returns a field as its author wrote it. found is false where the key is
// absent or null; plain is false where the value is a collection, which is
// then returned as JSON.
func (v *validator) text(key string) (text string, f frontmatter.Field, found, plain bool) {
	f = v.byKey[key]
	if f.Value.IsNull() {
		return "", f, false, false
	}
	if text, plain = f.Value.Scalar(); !plain {
		text = f.Value.JSON()
	}
	return text, f, true, plain
}

func (v *validator) description() {
	text, f, found, plain := v.text("description")
	trimmed := strings.TrimFunc(text, isSpace)
	switch {
	case !found || trimmed == "":
		v.Add("description-missing", cmp.Or(f.At, firstLine), "there is no description")
		return
	case !plain:
		v.Add("description-missing", f.At, "the description is not a string")
		return
	case !f.Value.IsString():
		v.Add("description-type", f.At, "the description %s is not a string in YAML", problem.Clip(trimmed))
	}
	if n := utf8.RuneCountInString(text); n > maxDescriptionChars {
		v.Add("description-length", f.At, "the description has %d characters, more than %d", n, maxDescriptionChars)
	}
	v.read.Description = truncate.To(trimmed, maxDescriptionChars)
}

// isSpace reports whether a character is space to Python, in which the reference
// validator is written: the separators of ASCII are.
func isSpace(c rune) bool { return unicode.IsSpace(c) || '\x1c' <= c && c <= '\x1f' }

// says reports whether a key has a truth value, quoted or not.
func (v *validator) says(key, value string) bool {
	text, _, _, plain := v.text(key)
	return plain && strings.EqualFold(strings.TrimSpace(text), value)
}

func (v *validator) license() {
	if _, f, found, plain := v.text("license"); found && !plain {
		v.Add("license-type", f.At, "the license is not a string")
	}
}

func (v *validator) compatibility() {
	text, f, _, plain := v.text("compatibility")
	if strings.TrimSpace(text) == "" {
		if f.Key != "" {
			v.Add("compatibility-empty", f.At, "compatibility says nothing")
		}
		return
	}
	if !plain {
		v.Add("compatibility-type", f.At, "compatibility is not a string")
	} else if n := utf8.RuneCountInString(text); n > maxCompatibilityChars {
		v.Add("compatibility-length", f.At, "compatibility has %d characters, more than %d", n, maxCompatibilityChars)
	}
	v.read.Compatibility = text
}

func (v *validator) metadata() {
	_, f, found, _ := v.text("metadata")
	if !found {
		return
	}
	if !f.Value.IsMapping() {
		v.Add("metadata-type", f.At, "metadata is not a mapping")
		return
	}
	for _, entry := range f.Value.Fields() {
		if !entry.Value.IsString() {
			v.Add("metadata-value", entry.At, "metadata.%s is not a string", problem.Clip(entry.Key))
		}
	}
}

func (v *validator) otherKeys() {
	known := []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools", "allowed_tools"}
	var extensions []string
	var first problem.Position
	for _, f := range v.fields {
		switch {
		case slices.Contains(known, f.Key) || meansAllowedTools(f.Key):
		case slices.Contains(extensionKeys, f.Key):
			if extensions == nil {
				first = f.At
			}
			extensions = append(extensions, f.Key)
		default:
			folded := strings.ReplaceAll(strings.ToLower(f.Key), "_", "-")
			if slices.Contains(known, folded) {
				v.Add("unknown-key", f.At, "the key %q is not in the specification; it has %q", problem.Clip(f.Key), folded)
			} else {
				v.Add("unknown-key", f.At, "the key %q is not in the specification", problem.Clip(f.Key))
			}
		}
	}
	if extensions != nil {
		v.Add("extension-key", first, "not in the specification, and known to some hosts only: %s", strings.Join(extensions, ", "))
	}
}

// firstLine is where a problem with what is not there is placed.
var firstLine = problem.At(1, 1)
