package settings

import "github.com/skills-mcp/skills-mcp/policy/paths"

// PathRules returns what is hidden and protected of the user's files.
func (s *Settings) PathRules() (paths.Rules, error) {
	p := s.Project
	return paths.New(paths.Options{Hidden: p.Hidden, Shown: p.Shown, Protected: p.Protected, Writable: p.Write})
}

// RulesIn returns them for a project, whose own file may add to them.
func (s *Settings) RulesIn(project string) (paths.Rules, error) {
	_ = s.Narrow(project)
	if err := s.ProjectFault(); err != nil {
		return paths.Rules{}, err
	}
	return s.PathRules()
}
