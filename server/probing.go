package server

import (
	"context"
	_ "embed" // the probes
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
)

// Programs of ours that tell what is missing, in the sandbox itself. They read
// a skill's scripts and run nothing of it.
var (
	//go:embed probe/modules.py
	pythonModules string
	//go:embed probe/modules.js
	nodeModules string
)

// missingPrograms reads names, a line each, and prints those that are no
// programs.
const missingPrograms = `while IFS= read -r name; do command -v -- "$name" >/dev/null 2>&1 || printf '%s\n' "$name"; done`

// probing is one look into the sandbox.
type probing struct {
	ctx       context.Context
	backend   sandbox.Backend
	copied    *resources.Copy
	owner     string
	workspace workspaces.Workspace
	caller    string
}

// newProbing looks in the session's own workspace where it has one, because a
// backend may keep at hand what it made for the next run there.
func (s *Server) newProbing(ctx context.Context, skill *catalog.Skill, copied *resources.Copy) (p probing, err error) {
	p = probing{ctx: ctx, backend: s.opts.Sandbox, copied: copied, owner: owner(skill, copied), caller: request.Caller(ctx)}
	p.workspace, err = s.workspaces.GetShared(ctx)
	return p, err
}

// all finds the programs that are missing, and the modules of the scripts
// whose interpreters are not.
func (p probing) all(programs []needed, local []string) (lacks []lack, err error) {
	missing, err := p.missing(programs)
	if err != nil {
		return nil, err
	}
	python, node := map[string][]string{}, []string{}
	for _, n := range programs {
		i := slices.IndexFunc(n.programs, func(program string) bool { return !missing[program] })
		switch {
		case i < 0:
			lacks = append(lacks, n.lack())
		case n.tool:
		case strings.HasPrefix(path.Base(n.programs[i]), "python"):
			python[n.programs[i]] = append(python[n.programs[i]], n.script)
		case slices.Contains([]string{"node", "nodejs", "tsx"}, path.Base(n.programs[i])) && !missing["node"]:
			node = append(node, n.script)
		}
	}
	for program, scripts := range python {
		found := p.modules(missingPython, []string{program, "-I", "-c", pythonModules}, scripts, local)
		lacks = append(lacks, found...)
	}
	if len(node) > 0 {
		lacks = append(lacks, p.modules(missingNode, []string{"node", "-e", nodeModules}, node, nil)...)
	}
	return lacks, nil
}

// missing gives the programs that the sandbox has not, and asks for node
// besides.
func (p probing) missing(programs []needed) (map[string]bool, error) {
	names := []string{"node"}
	for _, n := range programs {
		names = append(names, n.programs...)
	}
	slices.Sort(names)
	out, err := p.ask(sandbox.Spec{Shell: missingPrograms, Stdin: []byte(strings.Join(slices.Compact(names), "\n") + "\n")})
	missing := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		missing[strings.TrimSuffix(line, "\n")] = true
	}
	return missing, err
}

// modules asks one interpreter. One that does not answer tells nothing.
func (p probing) modules(kind string, argv, scripts, local []string) (lacks []lack) {
	question, err := json.Marshal(map[string]any{"scripts": scripts, "local": local})
	if err != nil {
		return nil
	}
	out, err := p.ask(sandbox.Spec{Argv: argv, Stdin: question})
	var answers []struct {
		Script, Module string
		Sure           bool
	}
	if err != nil || json.Unmarshal(out, &answers) != nil {
		return nil
	}
	for _, answer := range answers {
		lacks = append(lacks, lack{kind: kind, name: answer.Module, script: answer.Script, sure: answer.Sure})
	}
	return lacks
}

// ask runs a program of ours beside the skill, and gives what it says. It waits
// for no other program, so that an activation does not.
func (p probing) ask(spec sandbox.Spec) ([]byte, error) {
	spec.SkillDir, spec.Workspace, spec.Caller = p.copied.Dir, p.workspace.Dir, p.caller
	spec.Private, spec.Owner, spec.NoWait = p.workspace.Private, p.owner, true
	spec.Limits = sandbox.Limits{Timeout: probePatience, OutputBytes: maxProbeBytes}
	result, err := p.backend.Run(p.ctx, spec)
	switch {
	case err != nil:
		return nil, err
	case result.Status != sandbox.Exited || result.ExitCode != 0:
		return nil, fmt.Errorf("a probe ended with %s %d", result.Status, result.ExitCode)
	case result.Stdout.Total > int64(len(result.Stdout.Data)):
		return nil, fmt.Errorf("a probe said more than %d bytes", maxProbeBytes)
	}
	return result.Stdout.Data, nil
}
