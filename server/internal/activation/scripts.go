package activation

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/lazyregexp"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// Bounds of what is looked for in instructions.
const (
	maxNamedScripts  = 32  // different paths
	maxOtherScripts  = 3   // of other skills, that are told
	maxSearchedNames = 8   // paths that name no skill, looked for in all
	maxSearched      = 256 // skills; with more, paths that name none are not looked for
)

// scriptPath finds what looks like the path of a script in instructions.
var scriptPath = lazyregexp.New(`[\w~$./{}-]*[\w-]\.(?:py|sh|bash|js|mjs|cjs|ts|rb|pl|php|lua|R)\b`)

// namedScript is a script that instructions name, and whose it is.
type namedScript struct{ skill, path string }

// namedScripts returns the first of the skill's own scripts that its
// instructions name, or nothing, and those of other skills that are there.
func (p *page) namedScripts(body string) (own string, others []namedScript) {
	seen := map[string]bool{}
	for _, word := range scriptPath().FindAllString(body, -1) {
		if seen[word] || strings.HasPrefix(word, "//") { // of an address
			continue
		}
		if seen[word] = true; len(seen) > maxNamedScripts {
			break
		}
		switch found := p.find(word); {
		case found.skill == p.skill.Name:
			own = cmp.Or(own, found.path)
		case found.skill != "" && !slices.Contains(others, found) && len(others) < maxOtherScripts:
			others = append(others, found)
		}
	}
	return own, others
}

// find says whose script a word is: the skill's own, else that of a skill whose
// directory is named in it, else that of the only skill that has such a path.
func (p *page) find(word string) (found namedScript) {
	segments := slices.DeleteFunc(strings.Split(word, "/"), func(segment string) bool {
		return segment == "" || segment == "." || segment == ".." || strings.ContainsAny(segment, "~${}")
	})
	plain := path.Join(segments...)
	if isFile(p.dir, plain) {
		return namedScript{p.skill.Name, plain}
	}
	for i, segment := range segments[:max(len(segments)-1, 0)] {
		rest := path.Join(segments[i+1:]...)
		if skill, ok := p.snapshot.Lookup(segment); ok && hasFile(skill, rest) {
			return namedScript{skill.Name, rest}
		}
	}
	if len(segments) < 2 || len(p.snapshot.Skills()) > maxSearched || p.searched == maxSearchedNames {
		return namedScript{}
	}
	p.searched++
	for _, skill := range p.snapshot.Skills() {
		if !hasFile(skill, plain) {
			continue
		}
		if found.skill != "" {
			return namedScript{} // that of two
		}
		found = namedScript{skill.Name, plain}
	}
	return found
}

func hasFile(skill *catalog.Skill, name string) bool {
	dir, err := skills.Open(skill)
	if err != nil {
		return false
	}
	defer dir.Close()
	return isFile(dir, name)
}

func isFile(in *contained.Dir, name string) bool {
	dir, err := in.IsDir(name)
	return err == nil && !dir
}

// seenByPrograms says which files of the user programs see.
func (p *page) seenByPrograms(ctx context.Context) string {
	const others = "pass what else they need by `args` or `stdin`.\n"
	switch {
	case p.Shares.Project(ctx) != nil:
		return "Of the user's files programs see the project, and what is named above, and no others: " + others
	case len(p.Shares.Further()) > 0:
		return "Of the user's files programs see what is named above, and no others: " + others
	}
	return "Programs see this skill and the workspace, and no files of the user: pass what they need by `args` or `stdin`, or write it into the workspace first.\n"
}

// writeScripts says what programs see, and what the names of scripts in the
// instructions mean to exec.
func (p *page) writeScripts(ctx context.Context, body string) {
	info := p.Sandbox.Info()
	if !info.Runs() || !p.grants.Execute() {
		return
	}
	start := "the workspace"
	if p.Shares.Project(ctx) != nil {
		start = "the project"
	}
	if info.Tier != "none" {
		p.WriteString(p.seenByPrograms(ctx))
	}
	own, others := p.namedScripts(body)
	if own != "" {
		fmt.Fprintf(p, "Where the instructions run a script, such as %s, call exec {\"name\": %q, \"script\": %q, \"args\": […]}: programs start in %s.\n",
			own, p.skill.Name, own, start)
	}
	for _, other := range others {
		fmt.Fprintf(p, "The script %s is one of the skill %q: exec {\"name\": %q, \"script\": %q}.\n", other.path, other.skill, other.skill, other.path)
	}
}
