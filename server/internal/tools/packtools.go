package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/jsonschema"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/server/internal/cards"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/execution"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// Limits of the tools of skills that are tools of the server. Every host pays for
// the list in each conversation, and some refuse all tools for the name of one.
const (
	maxPackTools       = 40
	maxToolNameChars   = 40
	maxPackDescription = 1000
	maxPackSchemaBytes = 8 << 10
	nameHashChars      = 8
)

// packTools gathers the tools of skills that are tools of the server.
type packTools struct {
	rooms Rooms
	taken map[string]string // whose tool has a name
	tools []Tool
	left  int // out
}

// Packs returns the tools of all skills' tools.json as they are now, each as a tool
// of its own besides those that there are. What is left out is in the log. A call is
// one of exec: the skill's policy, grants and limits hold as there.
func Packs(rooms Rooms, besides []Tool) []Tool {
	p := &packTools{rooms: rooms, taken: map[string]string{}}
	for _, tool := range besides {
		p.taken[tool.definition.Name] = "the server"
	}
	for _, skill := range rooms.Skills.Snapshot().ForModels() {
		if skill.HasTools {
			p.addAll(skill)
		}
	}
	rooms.Skills.Log.Info("tools of skills are tools of the server", "tools", len(p.tools), "left out", p.left)
	return p.tools
}

// addAll adds the tools of a skill.
func (p *packTools) addAll(skill *catalog.Skill) {
	tools, err := read(skill)
	if err != nil {
		p.leave(skill, "tools.json", failure.Of(err).Message)
		return
	}
	for _, tool := range tools {
		if reason := p.add(skill, tool); reason != "" {
			p.leave(skill, tool.Name, reason)
		}
	}
}

func read(skill *catalog.Skill) ([]catalog.Tool, error) {
	dir, err := skills.Open(skill)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	tools, _, err := skills.ReadTools(skill, dir)
	return tools, err
}

func (p *packTools) leave(skill *catalog.Skill, tool, reason string) {
	p.left++
	p.rooms.Skills.Log.Warn("a skill's tool is no tool of the server", "skill", skill.Name, "tool", tool, "reason", reason)
}

// add adds a tool, or says why it does not.
func (p *packTools) add(skill *catalog.Skill, tool catalog.Tool) (reason string) {
	name := packToolName(skill.Name, tool.Name)
	switch by := p.taken[name]; {
	case by != "":
		return fmt.Sprintf("the name %s is that of a tool of %s", name, by)
	case len(p.tools) == maxPackTools:
		return fmt.Sprintf("there are %d already", maxPackTools)
	case len(tool.InputSchema) > maxPackSchemaBytes:
		return fmt.Sprintf("its input schema is longer than %d bytes", maxPackSchemaBytes)
	}
	if fault := schemaFault(tool.InputSchema); fault != "" {
		return fault
	}
	p.taken[name] = "the skill " + skill.Name
	p.tools = append(p.tools, packTool(p.rooms.Runner, name, skill.Name, tool))
	return ""
}

// schemaFault says what hosts cannot do with an input schema.
func schemaFault(schema []byte) string {
	if _, err := jsonschema.Compile(schema); err != nil {
		return "its input schema is not valid"
	}
	var root map[string]json.RawMessage
	if err := json.Unmarshal(schema, &root); err != nil {
		return "its input schema is no object"
	}
	for _, choice := range []string{"anyOf", "oneOf", "allOf"} {
		if root[choice] != nil {
			return "hosts take no input schema with " + choice + " at its root"
		}
	}
	return ""
}

// packTool returns a tool that runs one of a skill.
func packTool(runner *execution.Runner, name, skill string, tool catalog.Tool) Tool {
	description := truncate.After(display.Line(tool.Description), maxPackDescription)
	definition := define(name, runs, truncate.After(skill+": "+tool.Name, 80),
		strings.TrimSpace(fmt.Sprintf("%s (Tool %s of the skill %s, in the sandbox: activate that first.)", description, tool.Name, skill)),
		execAnswerChars)
	delete(definition.Meta.AdditionalFields, "anthropic/alwaysLoad") // there may be many
	definition.InputSchema, definition.RawInputSchema = mcp.ToolInputSchema{}, slices.Clone(tool.InputSchema)
	made := newTool(definition, func(ctx context.Context, input json.RawMessage) (*mcp.CallToolResult, error) {
		return runner.Run(ctx, execution.Program{Skill: skill, Tool: tool.Name, Input: input})
	})
	made.skill, made.card = skill, cards.Run
	return made
}

// packToolName returns a name that every host takes. One that is not skill_tool as
// it stands ends in a hash of it, so that it is nobody else's.
func packToolName(skill, tool string) string {
	full := skill + "_" + tool
	safe := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
			return c
		}
		return '_'
	}, full)
	if safe == full && len(safe) <= maxToolNameChars {
		return safe
	}
	sum := sha256.Sum256([]byte(full))
	return safe[:min(len(safe), maxToolNameChars-1-nameHashChars)] + "_" + hex.EncodeToString(sum[:])[:nameHashChars]
}
