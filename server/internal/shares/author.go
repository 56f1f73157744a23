package shares

import "slices"

// Author is whose programs write to a change set: one version of a skill, or
// nobody's in its zero value.
type Author struct {
	// Skill is its name, Dir its directory on the host, and Digest the version.
	Skill, Dir, Digest string
}

// Authors returns whose programs may have written to the set, or nil where that
// is not known: an earlier server, or a workspace that has expired, had it.
func (s *Set) Authors() []Author {
	s.access.mu.Lock()
	defer s.access.mu.Unlock()
	target := s.set.Target()
	used := s.access.sets[target.Workspace][target.Path]
	if used == nil || used.Dir() != s.set.Dir() {
		return nil
	}
	return slices.Clone(used.authors)
}
