package publish

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
)

// instructionsBytes bounds the instructions, in bytes of JSON, however many
// skills there are. Claude Code cuts at 2 KB.
const instructionsBytes = 1900

// beforeBytes bounds what the instructions say of skills that were activated before.
const beforeBytes = 400

const instructionsHead = `Agent Skills: folders of instructions, references and scripts for particular tasks.

BEFORE you start a task that a skill below covers, call activate with its name and follow what it gives. Read further files with readResource and run its scripts with exec only when its instructions say so. Changes that a result calls held are not in the user's files before applyChanges: look at them, and say so. If no skill below fits, or the list is cut short, call findSkills with words of the task. Never assume what you have not read; ask the user for inputs that are missing.
If the user writes /NAME or names a skill, activate that one, with the rest of what they wrote as arguments.

`

// instructions say what the server is for and which skills there
// are, pinned ones first: with descriptions, cut as short as they must be for
// all skills to fit, else names as far as they fit.
func (p *Publisher) instructions() string {
	ordered := pinnedFirst(p.Skills.Snapshot(), p.Pinned)
	head := instructionsHead + p.before()
	budget := instructionsBytes - jsonSize(head)
	list := named(ordered, budget)
	for _, length := range descriptionLengths {
		if text := described(ordered, length, budget); text != "" {
			list = text
			break
		}
	}
	return head + list
}

// before says which skills were activated earlier in the session, as far as they fit:
// the host may have left out of the conversation what they said.
func (p *Publisher) before() string {
	names := p.Activation.Before()
	for len(names) > 0 {
		text := "Activated earlier in this session: " + strings.Join(names, ", ") + ". Where you go on with one of them and do not see its instructions any more, activate it again.\n\n"
		if jsonSize(text) <= beforeBytes {
			return text
		}
		names = names[1:]
	}
	return ""
}

// descriptionLengths are the lengths, in characters, that descriptions are
// cut to. One of less than 50 says too little.
var descriptionLengths = []int{1024, 500, 300, 200, 150, 100, 75, 50}

// pinnedFirst returns the skills, those pinned first and in the order of the
// names.
func pinnedFirst(snapshot *catalog.Snapshot, pinned []string) []*catalog.Skill {
	place := func(skill *catalog.Skill) int {
		if i := slices.Index(pinned, skill.Name); i >= 0 {
			return i
		}
		return len(pinned)
	}
	return slices.SortedStableFunc(slices.Values(snapshot.ForModels()), func(a, b *catalog.Skill) int { return cmp.Compare(place(a), place(b)) })
}

// described returns a line a skill, or nothing where not all fit into so many
// bytes of JSON.
func described(skills []*catalog.Skill, length, budget int) string {
	if len(skills) == 0 {
		return "There are no skills yet.\n"
	}
	text := "Skills:\n"
	for _, skill := range skills {
		text += "- " + skill.Name + ": " + truncate.After(display.Line(skill.Description), length) + "\n"
		if jsonSize(text) > budget {
			return ""
		}
	}
	return text
}

// named returns as many names as fit into so many bytes of JSON.
func named(skills []*catalog.Skill, budget int) string {
	const more = "; … (findSkills has the rest)\n"
	text := "Skills: "
	for i, skill := range skills {
		item := skill.Name
		if i > 0 {
			item = ", " + item
		}
		if jsonSize(text+item+more) > budget {
			return text + more
		}
		text += item
	}
	return text + "\n"
}

// jsonSize is the length of a text inside a JSON string.
func jsonSize(text string) int {
	encoded, err := json.Marshal(text)
	if err != nil {
		return len(text)
	}
	return len(encoded) - len(`""`)
}
