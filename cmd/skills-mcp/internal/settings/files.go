package settings

import (
	"os"
	"path/filepath"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/policy/paths"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
)

// PathRules returns what is hidden and protected in a directory of the user's, or
// in all, for an empty path.
func (s *Settings) PathRules(dir string) (paths.Rules, error) {
	p := s.Project
	home, _ := os.UserHomeDir()
	return paths.New(paths.Options{
		Hidden: p.Hidden, Shown: p.Shown, Protected: p.Protected, Writable: p.Write,
		Hooks:   project.Hooks(dir, home, append(UserGitConfigs(home), "/etc/gitconfig")...),
	})
}

// GrantedIn returns where in a directory of the user's skills lie that are granted
// something now, as slash-separated paths relative to it, also with links
// resolved.
func (s *Settings) GrantedIn(dir string) (places []string) {
	for _, granted := range s.allGrants() {
		root, err := ExpandHome(granted.Root)
		if granted.None() || err != nil {
			continue
		}
		real, _ := filepath.EvalSymlinks(root) // what is not there is nowhere
		for _, path := range []string{filepath.Clean(root), real} {
			if inside, err := filepath.Rel(dir, path); err == nil && pathname.Within(path, dir) && inside != "." {
				places = append(places, filepath.ToSlash(inside))
			}
		}
	}
	return places
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
