package server

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox/command"
)

// maxProbedScripts is how many scripts of a skill are looked at.
const maxProbedScripts = 64

// needed is a program of a skill and what may start it, best first.
type needed struct {
	script   string
	tool     bool
	programs []string
}

// lack says that none of the programs is there.
func (n needed) lack() lack {
	kind := missingInterpreter
	if n.tool {
		kind = missingProgram
	}
	var names []string
	for _, program := range n.programs {
		names = append(names, path.Base(program))
	}
	return lack{kind: kind, name: strings.Join(slices.Compact(names), " or "), script: n.script, sure: true}
}

// scriptsOf gives those of a skill's files that are programs. What lies in
// assets and references is for others to run, and what a nested skill has is
// that one's matter.
func scriptsOf(dir string, files []contained.Entry) (scripts []needed) {
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
		programs, err := command.Interpreters(dir, file.Path)
		if err == nil && len(programs) > 0 && len(scripts) < maxProbedScripts {
			scripts = append(scripts, needed{script: file.Path, programs: programs})
		}
	}
	return scripts
}

// programsOf gives the tools that start a program of the system.
func programsOf(tools []catalog.Tool) (programs []needed) {
	for _, tool := range tools {
		if program := tool.Argv[0]; !strings.Contains(program, "/") {
			programs = append(programs, needed{script: tool.Name, tool: true, programs: []string{program}})
		}
	}
	return programs
}

// localModules gives the names by which a skill's programs could import its
// own Python modules, wherever they look for them.
func localModules(entries []contained.Entry) []string {
	names := []string{}
	for _, entry := range entries {
		if extension := path.Ext(entry.Path); entry.Dir || extension != ".py" && extension != ".so" && extension != ".pyd" {
			continue
		}
		for segment := range strings.SplitSeq(entry.Path, "/") {
			name, _, _ := strings.Cut(segment, ".")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
