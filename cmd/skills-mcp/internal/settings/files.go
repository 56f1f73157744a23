package settings

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/internal/secrets"
	"github.com/skills-mcp/skills-mcp/policy/paths"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
)

// PathRules returns what is hidden and protected in a directory of the user's, or
// in all, for an empty path, besides [Settings.PlacesIn].
func (s *Settings) PathRules(dir string) (paths.Rules, error) {
	p := s.Project
	home, _ := os.UserHomeDir()
	return paths.New(paths.Options{
		Hidden: p.Hidden, Shown: p.Shown, Protected: p.Protected, Writable: p.Write,
		Hooks: project.Hooks(dir, home, append(UserGitConfigs(home), "/etc/gitconfig")...),
	})
}

// PlacesIn returns what in a directory of the user's depends on what is granted
// now, and what this program itself goes by.
func (s *Settings) PlacesIn(dir string) (places paths.Places) {
	audit, _ := s.AuditDir() // which is told where it is opened
	places.Own = inside(dir, s.File, audit)
	for _, granted := range s.allGrants() {
		if granted.None() {
			continue
		}
		places.Granted = append(places.Granted, inside(dir, granted.Root)...)
		for name, secret := range granted.Secrets {
			source := cmp.Or(secret.Source, secrets.Environment(name))
			places.Secrets = append(places.Secrets, inside(dir, source.File())...)
			places.Run = append(places.Run, inside(dir, source.Runs()...)...)
		}
	}
	slices.Sort(places.Secrets)
	return places
}

// inside returns those of the paths that are in a directory, slash-separated and
// relative to it, also with links resolved.
func inside(dir string, names ...string) (found []string) {
	for _, name := range names {
		name, err := ExpandHome(name)
		if err != nil || name == "" {
			continue
		}
		absolute, _ := filepath.Abs(name)
		real, _ := filepath.EvalSymlinks(absolute) // what is not there is nowhere
		for _, path := range []string{absolute, real} {
			if inside, err := filepath.Rel(dir, path); err == nil && pathname.Within(path, dir) && inside != "." {
				found = append(found, filepath.ToSlash(inside))
			}
		}
	}
	return found
}

// UserGitConfigs are git's configurations of the user's own, those that win first.
func UserGitConfigs(home string) []string {
	configs := filepath.Join(home, ".config")
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		configs = dir
	}
	return []string{filepath.Join(home, ".gitconfig"), filepath.Join(configs, "git", "config")}
}

// RulesIn returns them for a project, whose own file may add to them.
func (s *Settings) RulesIn(project string) (paths.Rules, error) {
	_ = s.Narrow(project)
	if err := s.ProjectFault(); err != nil {
		return paths.Rules{}, err
	}
	return s.PathRules(project)
}
