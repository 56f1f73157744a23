// Package schemas has the JSON Schemas of the files that authors write, for their
// editors.
package schemas

import (
	_ "embed"
	"maps"
	"slices"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/examples"
	"github.com/skills-mcp/skills-mcp/internal/config"
)

var (
	//go:embed skill.json
	skill []byte
	//go:embed tools.json
	tools []byte
)

var schemas = map[string]func() []byte{
	"skill":  func() []byte { return skill },
	"tools":  func() []byte { return tools },
	"tests":  examples.Schema,
	"config": config.Schema,
}

// Names returns what there are schemas of.
func Names() []string { return slices.Sorted(maps.Keys(schemas)) }

// Of returns one of them.
func Of(name string) (schema []byte, found bool) {
	schemaOf, found := schemas[name]
	if !found {
		return nil, false
	}
	return schemaOf(), true
}
