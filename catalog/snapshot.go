package catalog

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// Snapshot is one consistent state of the catalog. It is immutable and safe
// for concurrent use.
type Snapshot struct {
	skills   []*Skill
	hidden   []*Skill
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
	if i, found := search(s.skills, name); found {
		return s.skills[i], true
	}
	return nil, false
}

func search(skills []*Skill, name string) (int, bool) {
	return slices.BinarySearchFunc(skills, name, func(s *Skill, name string) int { return strings.Compare(s.Name, name) })
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

// step is a candidate before and after it was loaded again.
type step struct{ was, now *candidate }

// after returns the snapshot with the skills and problems of candidates that were
// loaded again. ok is false where a name came or went, so that others may have to
// take or leave their places.
func (s *Snapshot) after(steps []step) (_ *Snapshot, ok bool) {
	next := &Snapshot{skills: slices.Clone(s.skills), hidden: slices.Clone(s.hidden), problems: s.problems}
	for _, step := range steps {
		was, now := step.was.skill, step.now.skill
		if (was == nil) != (now == nil) || was != nil && was.Name != now.Name {
			return nil, false
		}
		if now != nil {
			put(next.skills, now)
			put(next.hidden, now)
		}
		next.problems = replaced(next.problems, step.was.problems, step.now.problems)
	}
	return next, true
}

// put puts a skill in the place of that in the same directory, if it is among
// these. Its path, in which the names of others may be, stays.
func put(skills []*Skill, now *Skill) {
	for i, _ := search(skills, now.Name); i < len(skills) && skills[i].Name == now.Name; i++ {
		if was := skills[i]; was.Dir != now.Dir {
			continue
		} else if was.Path != now.Path {
			moved := *now
			moved.Path = was.Path
			now = &moved
		}
		skills[i] = now
	}
}

// replaced returns sorted problems with others in the place of some.
func replaced(problems, was, now []Problem) []Problem {
	if slices.Equal(was, now) {
		return problems
	}
	problems = slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool { return slices.Contains(was, p) })
	problems = append(problems, now...)
	slices.SortFunc(problems, problem.Compare)
	return problems
}

// difference is how one snapshot differs from another.
type difference struct {
	entries    []string // entry documents of skills that came, went or changed
	came, went []string // directories of skills
}

// Since calls visit with each skill that may be another than an earlier snapshot
// had of that name, in the order of names. Where there was none, or is none any
// more, was or now is nil; so is before where there was no snapshot.
func (s *Snapshot) Since(before *Snapshot, visit func(was, now *Skill)) {
	var was []*Skill
	if before != nil {
		was = before.skills
	}
	now := s.skills
	for len(was) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(was) > 0 && was[0].Name < now[0].Name:
			visit(was[0], nil)
			was = was[1:]
		case len(was) == 0 || now[0].Name < was[0].Name:
			visit(nil, now[0])
			now = now[1:]
		default:
			if was[0] != now[0] {
				visit(was[0], now[0])
			}
			was, now = was[1:], now[1:]
		}
	}
}

// difference returns what came and went, and what is another, from s to after.
func (s *Snapshot) difference(after *Snapshot) difference {
	var d difference
	after.Since(s, d.add)
	d.came, d.went = without(d.came, d.went), without(d.went, d.came)
	return d
}

// add adds the difference of two skills of one name, of which one may be missing.
func (d *difference) add(was, now *Skill) {
	if was != nil && now != nil && was.equal(now) {
		return
	}
	if was != nil {
		d.entries = append(d.entries, filepath.Join(was.Dir, was.Entry))
		d.went = append(d.went, was.Dir)
	}
	if now != nil {
		d.entries = append(d.entries, filepath.Join(now.Dir, now.Entry))
		d.came = append(d.came, now.Dir)
	}
}

// without returns the texts that are not among others.
func without(texts, others []string) []string {
	excluded := make(map[string]bool, len(others))
	for _, text := range others {
		excluded[text] = true
	}
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return excluded[text] })
}

// dirs returns the directories of the skills.
func (s *Snapshot) dirs() []string {
	dirs := make([]string, len(s.skills))
	for i, skill := range s.skills {
		dirs[i] = skill.Dir
	}
	return dirs
}
