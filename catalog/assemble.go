package catalog

import (
	"cmp"
	"context"
	"log/slog"
	"slices"

	"golang.org/x/text/unicode/norm"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// publish builds a snapshot from the candidates and swaps it in.
func (c *Catalog) publish() { c.swap(c.assemble()) }

// swap swaps a snapshot in and wakes the Watch, if there is one.
func (c *Catalog) swap(after *Snapshot) {
	before := c.Snapshot()
	c.snapshot.Store(after)
	c.logProblems(before, after)
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// replace puts candidates in the place of those that they were, and swaps a
// snapshot in if they differ.
func (c *Catalog) replace(loaded []*candidate) {
	var steps []step
	for _, now := range loaded {
		if i, found := slices.BinarySearchFunc(c.state.candidates, now, precedence); found {
			was := c.state.candidates[i]
			c.state.candidates[i] = now
			if was.read != now.read || was.skill != now.skill {
				steps = append(steps, step{was, now})
			}
		}
	}
	if len(steps) == 0 {
		return
	}
	if after, ok := c.Snapshot().after(steps); ok {
		c.swap(after)
	} else {
		c.publish()
	}
}

func (c *Catalog) assemble() *Snapshot {
	s := &Snapshot{}
	s.problems = append(s.problems, c.state.problems...)
	if c.state.watcher != nil {
		s.problems = append(s.problems, c.state.watcher.Problems()...)
	}
	winners := make(map[string]*candidate, len(c.state.candidates))
	var cut []*candidate // of the lowest precedence
	for _, candidate := range c.state.candidates {
		s.problems = append(append(s.problems, candidate.notes...), candidate.problems...)
		if candidate.skill == nil {
			continue
		}
		if c.options.Hides(candidate.root, candidate.skill.Name) {
			s.hidden = append(s.hidden, candidate.skill)
			continue
		}
		name := norm.NFKC.String(candidate.skill.Name)
		if winner := winners[name]; winner != nil {
			r := &problem.Report{File: shownPath(candidate.shown, candidate.entry), Mode: c.options.mode()}
			r.Add("name-taken", problem.Position{}, "the name %q is taken by %s", candidate.skill.Name, shownPath(winner.shown, winner.entry))
			r.Problems[0].Skill, r.Problems[0].Winner = candidate.skill.Name, shownPath(winner.shown, winner.entry)
			s.problems = append(s.problems, r.Problems...)
			continue
		}
		winners[name] = candidate
		if most := c.options.MaxSkills; most > 0 && len(s.skills) == most {
			cut = append(cut, candidate)
			continue
		}
		s.skills = append(s.skills, candidate.skill)
	}
	if len(cut) > 0 {
		r := &problem.Report{File: shownPath(cut[0].shown, cut[0].entry), Mode: c.options.mode()}
		r.Add("skill-limit", problem.Position{}, "there may be %d skills, and this is the first of %d that are left out", c.options.MaxSkills, len(cut))
		s.problems = append(s.problems, r.Problems...)
	}
	nest(s.skills)
	for _, skills := range [][]*Skill{s.skills, s.hidden} {
		slices.SortStableFunc(skills, func(a, b *Skill) int { return cmp.Compare(a.Name, b.Name) })
	}
	slices.SortFunc(s.problems, problem.Compare)
	return s
}

// logProblems logs the problems that are new.
func (c *Catalog) logProblems(before, after *Snapshot) {
	if slices.Equal(before.problems, after.problems) {
		return
	}
	known := make(map[Problem]bool, len(before.problems))
	for _, problem := range before.problems {
		known[problem] = true
	}
	for _, problem := range after.problems {
		if known[problem] {
			continue
		}
		level := slog.LevelWarn
		if problem.Severity == Warning {
			level = slog.LevelDebug // there are many, and the skill works
		}
		c.log.Log(context.Background(), level, problem.Message,
			"rule", problem.Rule, "skill", problem.Skill, "file", problem.File, "line", problem.Line, "hint", problem.Hint)
	}
}
