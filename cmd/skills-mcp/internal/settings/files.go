package settings

import (
	"os"
	"path/filepath"

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
		Hooks: project.Hooks(dir, home, append(UserGitConfigs(home), "/etc/gitconfig")...),
	})
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
