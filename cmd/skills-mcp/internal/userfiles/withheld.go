package userfiles

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/internal/config"
	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/policy/paths"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
)

// Withheld returns what reports which files in a skill's directory are hidden
// since it lies in the user's project or a share, or holds one: what no program
// sees there is no content of a skill either. It returns nil for other skills, and
// for all where nothing of the user is known.
func Withheld(s *settings.Settings) func(dir string) func(path string) bool {
	lent := lentDirectories(s)
	if len(lent) == 0 {
		return nil
	}
	return func(dir string) func(path string) bool {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil
		}
		var hidden []func(path string) bool // the skill may touch several, which lie in each other
		for lent, base := range lent {
			if pathname.Within(real, lent) || pathname.Within(lent, real) {
				if one := hiddenIn(lent, base.With(s.PlacesIn(lent)), real); one != nil {
					hidden = append(hidden, one)
				}
			}
		}
		if len(hidden) == 0 {
			return nil
		}
		return func(path string) bool {
			return slices.ContainsFunc(hidden, func(one func(string) bool) bool { return one(path) })
		}
	}
}

// hiddenIn reports of paths in a skill's directory whether they are hidden in a
// directory of the user's. Where the skill itself is, its user wants it shown.
func hiddenIn(lent string, rules paths.Rules, skill string) func(path string) bool {
	hidden := func(name string) bool {
		inside, err := filepath.Rel(lent, name)
		if err != nil || inside == "." || !filepath.IsLocal(inside) {
			return false
		}
		_, hidden := rules.Hidden(filepath.ToSlash(inside))
		return hidden
	}
	if hidden(skill) {
		return nil
	}
	return func(path string) bool { return hidden(filepath.Join(skill, filepath.FromSlash(path))) }
}

// lentDirectories returns the project and the shares as far as they are known
// when a program starts, with what is hidden there.
func lentDirectories(s *settings.Settings) map[string]paths.Rules {
	lent := map[string]paths.Rules{}
	at, err := places()
	if err != nil {
		return lent
	}
	from := project.Sources{Named: s.Project.Dir}
	if s.Project.Dir == config.Auto {
		host := os.Getenv("CLAUDE_PROJECT_DIR")
		from = project.Sources{Host: host, Detect: host == ""}
	}
	if found, err := project.Find(from, at); err == nil && !(s.Anywhere && s.Project.Dir == config.Auto) {
		lent[found], _, _ = in(s, found) // the built-in rules where its own file is broken
	}
	for _, share := range s.Project.Shares {
		if found, err := at.Share(share.Path + ":" + share.Access); err == nil && !found.File {
			lent[found.Path], _ = s.PathRules(found.Path)
		}
	}
	return lent
}
