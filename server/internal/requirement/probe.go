package requirement

import (
	"context"
	_ "embed" // the probe
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources/staging"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// The probe, and what it asks interpreters with.
var (
	//go:embed probe.sh
	probeScript string
	//go:embed modules.py
	pythonModules string
	//go:embed modules.js
	nodeModules string
)

// probe looks into the sandbox: for the programs that start those of a skill,
// and where they are there, for the modules that scripts import.
func (f *Finder) probe(ctx context.Context, skill *catalog.Skill, copied *staging.Copy, has *environments.Environment) ([]Missing, error) {
	there := *skill
	there.Dir = copied.Dir
	dir, err := skills.Open(&there)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, _, err := dir.List(".", skills.ListDepth)
	if err != nil {
		return nil, err
	}
	programs := scriptsOf(copied.Dir, entries)
	if skill.HasTools {
		if tools, _, err := skills.ReadTools(&there, dir); err == nil { // else an activation says why
			programs = append(programs, toolsOf(tools)...)
		}
	}
	if has == nil {
		programs = append(programs, f.installers(copied)...)
	}
	if len(programs) == 0 {
		return nil, nil
	}
	questions, err := questionsOf(programs, localModules(entries))
	if err != nil {
		return nil, err
	}
	spec := sandbox.Spec{
		Shell: "python=" + quoted(pythonModules) + "\nnode=" + quoted(nodeModules) + "\n" + probeScript,
		Stdin: []byte(questions),
		Owner: skills.Owner(skill, copied.Digest),
	}
	if has != nil {
		release, err := has.Acquire()
		if err != nil {
			return nil, err
		}
		defer release()
		spec.Show, spec.Path, spec.Env = has.Show, has.Path, has.Env
	}
	out, err := f.run(ctx, skill, copied, spec)
	if err != nil {
		return nil, err
	}
	return missingIn(out, programs), nil
}

// askable reports whether a program can be asked for, a line each.
func askable(name string) bool { return name != "" && !strings.ContainsFunc(name, unicode.IsControl) }

// ofSystem reports whether a program is looked up on the PATH, or where only
// systems keep theirs: the probe runs none that a skill could have brought.
func ofSystem(name string) bool {
	return !strings.Contains(name, "/") || path.Clean(name) == name &&
		slices.ContainsFunc([]string{"/bin/", "/usr/", "/opt/"}, func(dir string) bool { return strings.HasPrefix(name, dir) })
}

// questionsOf returns what the probe reads.
func questionsOf(programs []program, local []string) (string, error) {
	var names, groups []string
	scripts := map[string][]string{} // by what may start them, one a line
	for _, p := range programs {
		names = append(names, p.starters...)
		if p.tool || slices.ContainsFunc(p.starters, func(name string) bool { return !askable(name) || !ofSystem(name) }) {
			continue
		}
		group := strings.Join(p.starters, "\n")
		if scripts[group] == nil {
			groups = append(groups, group)
		}
		scripts[group] = append(scripts[group], p.script)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !askable(name) })
	slices.Sort(names)
	var text strings.Builder
	for _, name := range append(slices.Compact(names), "") {
		text.WriteString(name + "\n")
	}
	for _, group := range groups {
		question, err := json.Marshal(map[string]any{"scripts": scripts[group], "local": local})
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "%s\n%s\n\n", question, group)
	}
	return text.String(), nil
}

// missingIn reads what the probe printed. An interpreter that did not answer
// says nothing.
func missingIn(out string, programs []program) (missing []Missing) {
	absent := map[string]bool{}
	for line := range strings.Lines(out) {
		kind, answer, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if kind == programKind {
			absent[answer] = true
			continue
		}
		var modules []struct {
			Script, Module string
			Sure           bool
		}
		if json.Unmarshal([]byte(answer), &modules) != nil {
			continue
		}
		for _, m := range modules {
			missing = append(missing, Missing{kind: kind, name: m.Module, script: m.Script, sure: m.Sure})
		}
	}
	for _, p := range programs {
		if !slices.ContainsFunc(p.starters, func(name string) bool { return askable(name) && !absent[name] }) {
			missing = append(missing, p.missing())
		}
	}
	return missing
}

// run runs the probe beside a skill, and returns what it printed. It waits for
// no other program, so that an activation does not. It runs in the session's
// own workspace, where a backend may keep at hand what it made for the next run.
func (f *Finder) run(ctx context.Context, skill *catalog.Skill, copied *staging.Copy, spec sandbox.Spec) (string, error) {
	ws, err := f.Workspaces.GetShared(ctx)
	if err != nil {
		return "", err
	}
	defer ws.Acquire()()
	spec.SkillDir, spec.Workspace, spec.Private = copied.Dir, ws.Dir, ws.Private
	spec.Caller, spec.NoWait = request.Caller(ctx), true
	spec.Limits = f.limits(skill)
	result, err := f.Sandbox.Run(ctx, spec)
	if err == nil && errors.Is(ctx.Err(), context.Canceled) {
		err = ctx.Err()
	}
	if err != nil {
		return "", err
	}
	// Where an interpreter takes too long or says too much, what came before it
	// is known all the same, and is looked for once.
	out := string(result.Stdout.Data)
	if !strings.Contains("\n"+out, "\n\n") {
		return "", fmt.Errorf("the probe ended with %s %d, before all programs were looked for", result.Status, result.ExitCode)
	}
	return out, nil
}

// limits returns those of a look into a skill, which has a time of its own.
func (f *Finder) limits(skill *catalog.Skill) (limits sandbox.Limits) {
	if f.Limits != nil {
		limits = f.Limits(skill.Name)
	}
	limits.Timeout, limits.OutputBytes = probeTimeout, maxProbeBytes
	return limits
}

// quoted returns a text as a shell word.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
