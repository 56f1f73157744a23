package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// schemaDialect is the version of JSON Schema in which [Schema] is written, the
// one that most editors know.
const schemaDialect = "http://json-schema.org/draft-07/schema#"

// Schema returns the JSON Schema of the user's file. It accepts whatever is
// accepted here; ranges of durations and sizes and the like it cannot say.
func Schema() []byte {
	var blank Config
	schema := keys(&blank).schema()
	schema["$schema"] = schemaDialect
	schema["title"] = "The configuration of skills-mcp"
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(schema) // maps, lists, texts and numbers always have an encoding
	return out.Bytes()
}

// Table returns a table of all keys in Markdown.
func Table() string {
	c := Default()
	var out strings.Builder
	out.WriteString("| key | for | default | flag, variable | a project's file |\n|---|---|---|---|---|\n")
	rows(&out, keys(&c), "")
	return out.String()
}

func rows(out *strings.Builder, g group, at string) {
	for _, f := range g {
		path := join(at, f.name)
		if inner, isGroup := f.value.(group); isGroup {
			rows(out, inner, path)
			continue
		}
		row(out, f, path, "`"+usual(f)+"`")
		switch items := f.value.(type) {
		case sections[Skill]:
			itemRows(out, items.itemFields(), path+".NAME.")
		case interface{ itemFields() group }:
			itemRows(out, items.itemFields(), path+"[].")
		}
	}
}

// itemRows writes the rows of keys that have no defaults.
func itemRows(out *strings.Builder, g group, at string) {
	for _, f := range g {
		inner, isGroup := f.value.(group)
		if isGroup && !inner.narrows() {
			itemRows(out, inner, at+f.name+".")
			continue
		}
		row(out, f, at+f.name, "")
		if secrets, isSecrets := f.value.(sections[Secret]); isSecrets {
			itemRows(out, secrets.itemFields(), at+f.name+".VARIABLE.")
		}
	}
}

// narrows reports whether a project's file may set any of the keys.
func (g group) narrows() (may bool) {
	g.leaves("", func(_ string, f field) { may = may || f.narrows != "" })
	return may
}

func row(out *strings.Builder, f field, path, usual string) {
	narrows := f.narrows
	if _, isGroup := f.value.(group); isGroup {
		narrows = "stricter"
	}
	fmt.Fprintf(out, "| `%s` | %s Value: %s. | %s | %s | %s |\n", path, f.doc, f.value.describe(), usual, overrides(f), narrows)
}

// overrides returns by what a key is overridden.
func overrides(f field) string {
	if f.env == "" {
		return ""
	}
	variable := "`" + envPrefix + f.env + "`"
	if f.flag {
		return "`--" + strings.ToLower(strings.ReplaceAll(f.env, "_", "-")) + "`, " + variable
	}
	return variable
}

// usual returns a field's value as a file has it.
func usual(f field) string {
	p := &printer{}
	f.value.print(p, "", f.name)
	text := strings.TrimSpace(strings.TrimPrefix(p.out.String(), f.name+":"))
	if f.name == "roots" {
		return "the default folders"
	}
	return text
}
