package catalog

import (
	"path/filepath"
	"slices"
	"sync"
)

// Snapshot is one consistent state of the catalog. It is immutable and safe
// for concurrent use.
type Snapshot struct {
	skills   []*Skill
	hidden   []*Skill
	byName   map[string]*Skill
	problems []Problem

	invocable           sync.Once
	forModels, forUsers []*Skill
}

// Skills returns the skills sorted by name in byte order. The caller must not
// change the slice.
func (s *Snapshot) Skills() []*Skill { return s.skills }

// ForModels returns the skills that models are told of, sorted by name: all but
// those for users alone. The caller must not change the slice.
func (s *Snapshot) ForModels() []*Skill {
	s.invocable.Do(s.divide)
	return s.forModels
}

// ForUsers returns the skills that are commands for users, sorted by name. The
// caller must not change the slice.
func (s *Snapshot) ForUsers() []*Skill {
	s.invocable.Do(s.divide)
	return s.forUsers
}

func (s *Snapshot) divide() {
	s.forModels = slices.DeleteFunc(slices.Clone(s.skills), func(skill *Skill) bool { return skill.UserOnly })
	s.forUsers = slices.DeleteFunc(slices.Clone(s.skills), func(skill *Skill) bool { return skill.ModelOnly })
}

// Lookup returns the skill of that exact name.
func (s *Snapshot) Lookup(name string) (*Skill, bool) {
	skill, ok := s.byName[name]
	return skill, ok
}

// Hidden returns the skills that [Options.Hides] leaves out, sorted by name. No
// client hears of them. The caller must not change the slice.
func (s *Snapshot) Hidden() []*Skill { return s.hidden }

// Problems returns what the scan found at fault, sorted by file, line and
// column. The caller must not change the slice.
func (s *Snapshot) Problems() []Problem { return s.problems }

// fault returns the first error of an entry document in a directory of that name.
func (s *Snapshot) fault(name string) (Problem, bool) {
	at := slices.IndexFunc(s.problems, func(p Problem) bool {
		return p.Severity == Error && (p.Skill == name || filepath.Base(filepath.Dir(p.File)) == name)
	})
	if at < 0 {
		return Problem{}, false
	}
	return s.problems[at], true
}

// sameSkills reports whether both publish the same skills with the same
// frontmatter.
func (s *Snapshot) sameSkills(other *Snapshot) bool {
	return slices.EqualFunc(s.skills, other.skills, (*Skill).equal)
}

// dirs returns the directories of the skills.
func (s *Snapshot) dirs() map[string]bool {
	dirs := make(map[string]bool, len(s.skills))
	for _, skill := range s.skills {
		dirs[skill.Dir] = true
	}
	return dirs
}

// changedEntries returns the entry documents of skills that came, went or
// changed.
func changedEntries(before, after *Snapshot) []string {
	var entries []string
	for _, pair := range [][2]*Snapshot{{before, after}, {after, before}} {
		for _, skill := range pair[0].skills {
			if other := pair[1].byName[skill.Name]; other == nil || !other.equal(skill) {
				entries = append(entries, filepath.Join(skill.Dir, skill.Entry))
			}
		}
	}
	return entries
}
