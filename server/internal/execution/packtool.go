package execution

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/jsonschema"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
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
	compiled, err := jsonschema.Compile(t.InputSchema)
	if err != nil {
		return &failure.Failure{Code: failure.InvalidTools, Message: fmt.Sprintf("the input schema of tool %q of skill %q is not valid", t.Name, skill.Name),
			Hint: "Tell the user; the author has to correct tools.json.", Cause: err}
	}
	if faults := compiled.Faults(input); len(faults) > 0 {
		return failure.New(failure.InvalidArguments, "Call exec again with an `input` that fits: "+truncate.After(string(t.InputSchema), 2000),
			"input of tool %q: %s", t.Name, strings.Join(faults, "; "))
	}
	return nil
}

// toolArgv returns a tool's command for an input.
func toolArgv(t catalog.Tool, input json.RawMessage) ([]string, error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(input, &values); err != nil {
		return nil, failure.New(failure.InvalidArguments, "Send `input` as an object.", "input of tool %q is not an object", t.Name)
	}
	argv, err := t.Command(values)
	if option := (*catalog.OptionError)(nil); errors.As(err, &option) {
		return nil, failure.New(failure.InvalidArguments,
			"Give a value that does not begin with a hyphen, such as ./-x for a file named -x. The author can allow others in inputSchema, by enum, const or a pattern that begins with ^.",
			"input of tool %q: %s begins with -, so the program could take it for an option", t.Name, truncate.After(option.Property, 80))
	}
	return argv, err
}
