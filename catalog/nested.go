package catalog

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"unicode/utf8"
)

// nest puts the path of the enclosing skill before that of a skill nested in
// it (SEP-2640, "Nested Skills": the enclosing skill's path becomes part of
// its organizational prefix), so that a nested skill's files have one URI,
// whichever of the two they are reached through. Skills are shared between
// snapshots, so one whose path changes is copied.
func nest(skills []*Skill) {
	outermost := slices.Clone(skills)
	slices.SortFunc(outermost, func(a, b *Skill) int { return cmp.Compare(len(a.Dir), len(b.Dir)) })
	byDir := make(map[string]*Skill, len(skills))
	nested := make(map[*Skill]*Skill)
	for _, skill := range outermost {
		if outer := enclosing(byDir, skill); outer != nil {
			copied := *skill
			copied.Path = pathWithin(outer, skill)
			nested[skill] = &copied
			skill = &copied
		}
		byDir[skill.Dir] = skill
	}
	for i, skill := range skills {
		if copied := nested[skill]; copied != nil {
			skills[i] = copied
		}
	}
}

// enclosing returns the innermost skill of the same root that a skill lies in.
func enclosing(byDir map[string]*Skill, skill *Skill) *Skill {
	for dir := filepath.Dir(skill.Dir); ; dir = filepath.Dir(dir) {
		if outer := byDir[dir]; outer != nil {
			if outer.Root != skill.Root {
				return nil
			}
			return outer
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// pathWithin returns the path of a skill in an outer one, its name last. What
// stands between and is no text cannot be part of a path and is left out.
func pathWithin(outer, skill *Skill) string {
	between, err := filepath.Rel(outer.Dir, filepath.Dir(skill.Dir))
	if err != nil || !utf8.ValidString(between) {
		between = "."
	}
	return path.Join(outer.Path, filepath.ToSlash(between), skill.Name)
}
