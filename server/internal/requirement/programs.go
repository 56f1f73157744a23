package requirement

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/catalog/needs"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox/command"
)

// maxProbedScripts is how many scripts of a skill are looked at.
const maxProbedScripts = 64

// program is one of a skill, and what may start it, best first.
type program struct {
	script   string
	tool     bool
	starters []string
}

// missing says that nothing that may start it is there.
func (p program) missing() Missing {
	kind := interpreterKind
	if p.tool {
		kind = programKind
	}
	var names []string
	for _, starter := range p.starters {
		names = append(names, path.Base(starter))
	}
	return Missing{kind: kind, name: strings.Join(slices.Compact(names), " or "), script: p.script, sure: true}
}

// scriptsOf returns those of a skill's files that are programs. What lies in
// assets and references is for others to run, and what a nested skill has is
// that one's matter.
func scriptsOf(dir string, files []contained.Entry) (scripts []program) {
	var nested []string
	for _, file := range files {
		if dir, isNested := strings.CutSuffix(file.Path, "/SKILL.md"); isNested {
			nested = append(nested, dir+"/")
		}
	}
	for _, file := range files {
		top, _, _ := strings.Cut(file.Path, "/")
		elsewhere := slices.ContainsFunc(nested, func(dir string) bool { return strings.HasPrefix(file.Path, dir) })
		if file.Dir || top == "assets" || top == "references" || elsewhere || !utf8.ValidString(file.Path) {
			continue
		}
		starters, err := command.Interpreters(dir, file.Path)
		if err == nil && len(starters) > 0 && len(scripts) < maxProbedScripts {
			scripts = append(scripts, program{script: file.Path, starters: starters})
		}
	}
	return scripts
}

// toolsOf returns the tools that start a program of the system.
func toolsOf(tools []catalog.Tool) (programs []program) {
	for _, tool := range tools {
		if starter := tool.Argv[0]; !strings.Contains(starter, "/") {
			programs = append(programs, program{script: tool.Name, tool: true, starters: []string{starter}})
		}
	}
	return programs
}

// localModules returns the names by which a skill's programs could import its
// own Python modules, wherever they look for them.
func localModules(entries []contained.Entry) []string {
	names := []string{}
	for _, entry := range entries {
		if !entry.Dir {
			names = append(names, needs.ModuleNames(entry.Path)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
