package catalog

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// allowedTools reads allowed-tools, or allowed_tools as some authors spell
// it. What cannot be understood grants nothing, so that a skill never may do
// more than its author wrote.
func (v *validator) allowedTools() {
	f, found := v.byKey["allowed-tools"]
	other, underscored := v.byKey["allowed_tools"]
	switch {
	case found && underscored:
		v.add("allowed-tools-twice", other.at, "allowed_tools was ignored, since allowed-tools is there too")
	case underscored:
		v.add("allowed-tools-spelling", other.at, "allowed_tools was read as allowed-tools")
		f = other
	case !found:
		return
	}
	if isNull(f.value) {
		return
	}
	v.skill.AllowedTools = []string{}
	switch f.value.Kind {
	case yaml.ScalarNode:
		if strings.TrimSpace(f.value.Value) != "" {
			v.skill.AllowedTools = []string{f.value.Value}
		}
	case yaml.SequenceNode:
		for _, item := range f.value.Content {
			if scalar := target(item); scalar.Kind == yaml.ScalarNode {
				v.skill.AllowedTools = append(v.skill.AllowedTools, scalar.Value)
			} else {
				v.add("allowed-tools-type", v.at(item), "an item of allowed-tools is not a string and grants nothing")
			}
		}
	default:
		v.add("allowed-tools-type", f.at, "allowed-tools is neither a string nor a list and grants nothing")
	}
}
