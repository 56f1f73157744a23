package execution

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/schema"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// findTool returns one of the tools in a skill's tools.json.
func findTool(skill *catalog.Skill, document []byte, name string) (catalog.Tool, error) {
	tools, _, err := skills.ParseTools(skill, document)
	if err != nil {
		return catalog.Tool{}, err
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		if t.Name == name {
			return t, nil
		}
		names[i] = t.Name
	}
	return catalog.Tool{}, failure.New(failure.ToolNotFound, "Its tools are: "+strings.Join(names, ", ")+".",
		"skill %q has no tool %q", skill.Name, truncate.After(name, 80))
}

// checkInput validates a tool's input.
func checkInput(skill *catalog.Skill, t catalog.Tool, input json.RawMessage) error {
	compiled, err := schema.Compile(t.InputSchema)
	if err != nil {
		return &failure.Failure{Code: failure.InvalidTools, Message: fmt.Sprintf("the input schema of tool %q of skill %q is not valid", t.Name, skill.Name),
			Hint: "Tell the user; the author has to mend tools.json.", Cause: err}
	}
	if faults := schema.Validate(compiled, input); len(faults) > 0 {
		return failure.New(failure.InvalidArguments, "Call exec again with an `input` that fits: "+truncate.After(string(t.InputSchema), 2000),
			"input of tool %q: %s", t.Name, strings.Join(faults, "; "))
	}
	return nil
}

// toolArgv fills the placeholders of a tool's command: an element that is
// exactly "{key}" becomes that property of the input as text, and goes away
// with the flag before it where the input has no such property. A text that a
// program could take for an option is refused unless the schema allows for it:
// a "--" before it is no help, since not every program heeds it.
func toolArgv(t catalog.Tool, input json.RawMessage) ([]string, error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(input, &values); err != nil {
		return nil, failure.New(failure.InvalidArguments, "Send `input` as an object.", "input of tool %q is not an object", t.Name)
	}
	var argv []string
	for _, element := range t.Argv {
		key, ok := placeholder(element)
		if !ok {
			argv = append(argv, element)
			continue
		}
		value, given := values[key]
		if !given {
			if last := len(argv) - 1; last > 0 && strings.HasPrefix(argv[last], "-") {
				argv = argv[:last]
			}
			continue
		}
		text := asText(value)
		if strings.HasPrefix(text, "-") && !t.Bounds(key) {
			return nil, failure.New(failure.InvalidArguments,
				"Give a value that does not begin with a hyphen, such as ./-x for a file named -x. The author can allow others in inputSchema, by enum, const or a pattern that begins with ^.",
				"input of tool %q: %s begins with -, so the program could take it for an option", t.Name, truncate.After(key, 80))
		}
		argv = append(argv, text)
	}
	return argv, nil
}

func placeholder(element string) (key string, ok bool) {
	if len(element) > 2 && element[0] == '{' && element[len(element)-1] == '}' {
		return element[1 : len(element)-1], true
	}
	return "", false
}

// asText returns a JSON string's content, and any other value as JSON.
func asText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
