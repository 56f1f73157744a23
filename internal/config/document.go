package config

import (
	"bytes"
	"encoding/json"
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

// Choices returns the words of which a key's value is one, or its values are some,
// where there are no others.
func Choices(key string) []string {
	var blank Config
	schema := keys(&blank).schema()
	for _, step := range strings.Split(key, ".") {
		properties, _ := schema["properties"].(object)
		schema, _ = properties[step].(object)
	}
	if items, isList := schema["items"].(object); isList {
		schema = items
	}
	words, _ := schema["enum"].([]string)
	return words
}
