// Package prompting writes what a system prompt says of skills, for hosts that put
// it there themselves, in the forms that they know.
package prompting

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
)

// form is one of the forms of a prompt.
type form struct {
	block func(skills []*catalog.Skill) (string, error)
	// rules are how a model comes to use what the block lists, with the tools of this
	// server, or empty where the block says so itself.
	rules string
}

var forms = map[string]form{
	"xml":   {inXML, ""},
	"json":  {inJSON, jsonRules},
	"packs": {asPacks, packRules},
}

// Formats returns the names of the forms.
func Formats() []string { return slices.Sorted(maps.Keys(forms)) }

// Write writes what a prompt says of skills in one of [Formats], and where that is
// wanted how they are used. Texts of skills are one line each, in which nothing
// ends what they stand in.
func Write(out io.Writer, format string, skills []*catalog.Skill, rules bool) error {
	text, err := forms[format].block(skills)
	if err != nil {
		return err
	}
	if rules && forms[format].rules != "" {
		text += "\n" + forms[format].rules
	}
	_, err = io.WriteString(out, text)
	return err
}

// line puts a text of a skill on one line, without what does not show itself.
func line(text string) string {
	return terminal.Printable(strings.Join(strings.Fields(text), " "))
}

// inXML is the form of Conjure: with where a skill is, to be read with a tool.
func inXML(skills []*catalog.Skill) (string, error) {
	var list strings.Builder
	for i, skill := range skills {
		if i > 0 {
			list.WriteString("\n")
		}
		fmt.Fprintf(&list, "<skill>\n<name>%s</name>\n<description>%s</description>\n<location>%s</location>\n</skill>\n",
			element(skill.Name), element(skill.Description), element(filepath.Join(skill.Dir, skill.Entry)))
	}
	return fmt.Sprintf(xmlPrompt, list.String()), nil
}

// element writes a text as the content of an element.
func element(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(line(text))
}

const xmlPrompt = `<skills>
<skills_description>
Claude has access to a set of skills that extend its capabilities for specialized tasks.
Skills are loaded automatically when relevant to the task at hand.
To use a skill, Claude should first read the SKILL.md file using the view tool.
</skills_description>

<available_skills>
%s</available_skills>

<skill_usage_instructions>
When a task matches a skill's description:
1. Use the view tool to read the skill's SKILL.md file
2. Follow the instructions in the skill
3. Use additional resources (scripts/, references/) as directed by the skill
</skill_usage_instructions>
</skills>
`

// inJSON is the form of RemcoChat: names and descriptions, and no paths.
func inJSON(skills []*catalog.Skill) (string, error) {
	type entry struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	list := make([]entry, len(skills))
	for i, skill := range skills {
		list[i] = entry{line(skill.Name), line(skill.Description)}
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text) // which escapes what would end a tag around it
	encoder.SetIndent("", "  ")
	err := encoder.Encode(map[string]any{"available_skills": list})
	return text.String(), err
}

const jsonRules = `Skills are available; use them when relevant.
- Do not request the instructions of a skill unless they are needed.
- Activate a skill by calling activate before using its instructions.
- Load additional files with readResource only where the instructions need them, and run its programs with exec.
- If a message of the user begins with /NAME of a skill, call activate for that skill before responding.
`

// asPacks is the form of Capability Packs.
func asPacks(skills []*catalog.Skill) (string, error) {
	text := strings.Builder{}
	text.WriteString("Capability Packs (attached; metadata only):\n")
	for _, skill := range skills {
		fmt.Fprintf(&text, "- pack_id: %[1]s\n  name: %[1]s\n  description: %[2]s\n  has_tools_json: %[3]t\n", line(skill.Name), line(skill.Description), skill.HasTools)
	}
	return text.String(), nil
}

const packRules = `- Packs are available only if listed in "Capability Packs (attached; metadata only)".
- To use a pack's procedure, first call activate with its name.
- To access additional files, call readResource.
- If a pack has tools (has_tools_json: true) and you need execution, activate names them; call exec with tool and input.
- Never assume pack contents without opening/reading them.
- Prefer asking the user for missing inputs over guessing.
`
