package listing

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/server"
)

// allProblems adds to the scan's problems what a scan does not look for.
func allProblems(ctx context.Context, snapshot *catalog.Snapshot) []catalog.Problem {
	return append(slices.Clone(snapshot.Problems()), Beyond(ctx, snapshot)...)
}

// Beyond returns the problems of skills that a scan does not look for: what is odd
// about allowed-tools, what the Skills extension does not list, and faulty tools.
func Beyond(ctx context.Context, snapshot *catalog.Snapshot) (problems []catalog.Problem) {
	for _, skill := range snapshot.Skills() {
		if limit, ok := errors.AsType[*resources.LimitError](resources.CheckLimits(ctx, skill)); ok {
			problems = append(problems, problemOf(skill, "extension-limit", skill.Shown(),
				limit.Error()+", the limit of the Skills extension (SEP-2640), so skills/list leaves it out"))
		} else if fault := server.EntryFault(skill); fault != "" {
			problems = append(problems, problemOf(skill, "extension-entry", filepath.Join(skill.Shown(), skill.Entry),
				fault+", so skills/list leaves it out: some clients would refuse the listing of all"))
			locate(problems[len(problems)-1:], skill, strings.Fields(fault)[1]) // "its KEY …", or else the frontmatter
		}
		problems = append(problems, grantProblems(skill)...)
		if skill.HasTools {
			problems = append(problems, toolProblems(skill)...)
		}
	}
	return problems
}

// grantProblems returns the entries of a skill's allowed-tools that grant nothing,
// and those that grant more than they seem to.
func grantProblems(skill *catalog.Skill) (problems []catalog.Problem) {
	file := filepath.Join(skill.Shown(), skill.Entry)
	grants, faults := policy.Parse(skill.AllowedTools)
	for _, fault := range faults {
		problems = append(problems, problemOf(skill, "allowed-tools-entry", file, fault.Error()))
	}
	for _, entry := range grants.AnyProgram() {
		problems = append(problems, problemOf(skill, "allowed-tools-any", file, entry+" grants any program, since this one runs others or text"))
	}
	if problems != nil {
		locate(problems, skill, "allowed-tools", "allowed_tools")
	}
	return problems
}

// locate says where the first of these keys is that a skill's frontmatter has, or
// where that begins.
func locate(problems []catalog.Problem, skill *catalog.Skill, keys ...string) {
	dir, err := resources.OpenSkill(skill)
	if err != nil {
		return // it went away since the scan
	}
	defer dir.Close()
	entry, err := dir.ReadAll(skill.Entry, 0)
	if err != nil {
		return
	}
	line, column := catalog.KeyPosition(entry.Data, keys...)
	for i := range problems {
		problems[i].Line, problems[i].Column = line, column
	}
}

// toolsOf returns the tools of a skill's tools.json that can be used.
func toolsOf(skill *catalog.Skill) []catalog.Tool {
	if !skill.HasTools {
		return nil
	}
	tools, _ := parseTools(skill)
	return tools
}

// toolProblems returns what is wrong with a skill's tools.json.
func toolProblems(skill *catalog.Skill) []catalog.Problem {
	_, problems := parseTools(skill)
	return problems
}

func parseTools(skill *catalog.Skill) ([]catalog.Tool, []catalog.Problem) {
	dir, err := resources.OpenSkill(skill)
	if err != nil {
		return nil, nil // it went away since the scan
	}
	defer dir.Close()
	file := filepath.Join(skill.Shown(), "tools.json")
	content, err := dir.ReadAll("tools.json", 0)
	if refused, ok := errors.AsType[*contained.Error](err); ok {
		return nil, []catalog.Problem{problemOf(skill, "tools-unreadable", file, refused.Message)}
	}
	tools, problems := catalog.ParseTools(file, content.Data)
	for i := range problems {
		problems[i].Skill = skill.Name
	}
	return tools, problems
}

// problemOf makes a problem of one of the catalog's rules, all of which are
// as severe in strict mode as otherwise.
func problemOf(skill *catalog.Skill, rule, file, message string) catalog.Problem {
	problem := catalog.Problem{Skill: skill.Name, File: file, Rule: rule, Message: message}
	for _, known := range catalog.Rules() {
		if known.Name == rule {
			problem.Severity, problem.Hint = known.Lenient, known.Hint
		}
	}
	return problem
}
