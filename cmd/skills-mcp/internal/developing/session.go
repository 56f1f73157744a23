package developing

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/examples"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/validating"
)

// session is what is known of the skills.
type session struct {
	Options
	view    view
	changes *changes

	rounds   int
	touched  map[string]bool // files that changed since a round looked at them
	problems []catalog.Problem
	skills   map[string]*catalog.Skill // by their paths, as all below
	seen     map[string]*Picture
	outcomes map[string]*outcomes
	due      []string // skills whose examples are to be run, in this order
}

// outcomes are what came of a skill's examples when they were last run.
type outcomes struct {
	results map[string]examples.Result // by exampleKey
	faults  []examples.Fault
}

// exampleKey is that of an example among the results of its skill.
func exampleKey(result examples.Result) string { return result.File + "\x00" + result.Name }

// follow does one round after the other until ctx ends.
func (s *session) follow(ctx context.Context) error {
	for {
		round, files := s.changes.take(ctx)
		if err := s.round(round, files); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.changes.came:
		}
	}
}

// round looks at the skills and runs examples. What it did not come to when ctx
// ended is left to the next one.
func (s *session) round(ctx context.Context, files []string) error {
	for _, file := range files {
		s.touched[file] = true
	}
	r, err := s.look(ctx)
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		err = s.view.round(r)
	}
	if err == nil {
		err = s.runExamples(ctx)
	}
	return err
}

// look finds out what there is, and what of it is another.
func (s *session) look(ctx context.Context) (Round, error) {
	report, err := validating.CheckFrom(ctx, s.From, []string{s.Place})
	if err != nil {
		return Round{}, err
	}
	snapshot := s.Catalog.Snapshot()
	skills := map[string]*catalog.Skill{}
	for _, skill := range snapshot.Skills() {
		skills[skill.Shown()] = skill
	}
	seen, another, err := s.pictures(ctx, snapshot)
	if err != nil {
		return Round{}, err
	}
	s.rounds++
	r := newRound(report)
	r.Number, r.Place, r.Changed, r.Skills = s.rounds, validating.Shown(s.From, s.Place), s.changed(skills), another
	r.New, r.Fixed = compareProblems(s.problems, report.Problems)
	for _, skill := range snapshot.Hidden() {
		r.Hidden = append(r.Hidden, skill.Name)
	}
	for path, was := range s.seen {
		if seen[path] == nil {
			r.Gone = append(r.Gone, was.Name)
			delete(s.outcomes, path)
		}
	}
	slices.Sort(r.Gone)
	s.skills, s.seen, s.problems = skills, seen, report.Problems
	s.touched = map[string]bool{}
	s.putDue(r.Skills)
	return r, nil
}

// pictures returns what hosts see of all skills, and those of them that are another.
func (s *session) pictures(ctx context.Context, snapshot *catalog.Snapshot) (seen map[string]*Picture, another []*Picture, err error) {
	broken, touched := brokenIn(snapshot), s.touchedDirs()
	seen, another = map[string]*Picture{}, []*Picture{}
	for _, skill := range snapshot.Skills() {
		path := skill.Shown()
		was, isBroken := s.seen[path], broken[filepath.Join(path, skill.Entry)]
		if was != nil && was.Broken == isBroken && !touched[skill.Dir] {
			seen[path] = was
			continue
		}
		now, err := s.picture(ctx, skill, isBroken)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil { // it went away meanwhile, which will be told
			continue
		}
		now.after(was)
		seen[path] = now
		another = append(another, now)
	}
	return seen, another, nil
}

// changed returns the files that changed as they are shown: those in an archive
// below its path, wherever they were extracted to.
func (s *session) changed(now map[string]*catalog.Skill) []string {
	extracted := map[string]string{}
	for _, skills := range []map[string]*catalog.Skill{s.skills, now} {
		for path, skill := range skills {
			if skill.Archive != "" {
				extracted[skill.Dir] = path
			}
		}
	}
	changed := []string{}
	for file := range s.touched {
		for dir, path := range extracted {
			if rest, below := strings.CutPrefix(file, dir); below {
				file = path + rest
				break
			}
		}
		changed = append(changed, validating.Shown(s.From, file))
	}
	slices.Sort(changed)
	return slices.Compact(changed)
}

// touchedDirs returns the files that changed and all directories above them.
func (s *session) touchedDirs() map[string]bool {
	all := map[string]bool{}
	for file := range s.touched {
		for ; !all[file]; file = filepath.Dir(file) {
			all[file] = true
		}
	}
	return all
}

// brokenIn returns the entry documents in which an error stands, of some of which
// an earlier version is still served.
func brokenIn(snapshot *catalog.Snapshot) map[string]bool {
	broken := map[string]bool{}
	for _, p := range snapshot.Problems() {
		if p.Severity == catalog.Error {
			broken[p.File] = true
		}
	}
	return broken
}

// putDue has the examples of skills be run that are not broken, before those that
// were left from an earlier round.
func (s *session) putDue(pictures []*Picture) {
	var due []string
	for _, picture := range pictures {
		due = append(due, picture.path)
	}
	for _, path := range s.due {
		if !slices.Contains(due, path) {
			due = append(due, path)
		}
	}
	s.due = slices.DeleteFunc(due, func(path string) bool { return s.seen[path] == nil || s.seen[path].Broken })
}

// runExamples runs the examples of those skills of which they are due.
func (s *session) runExamples(ctx context.Context) error {
	ran := false
	for s.Examples != nil && len(s.due) > 0 && ctx.Err() == nil {
		path := s.due[0]
		came, err := s.runOf(ctx, path)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			break
		}
		ran = ran || len(came.results)+len(came.faults) > 0
		s.outcomes[path], s.due = came, s.due[1:]
	}
	end := End{Number: s.rounds, Interrupted: ctx.Err() != nil, ran: ran, told: s.Examples != nil, Faults: []examples.Fault{}}
	for path, picture := range s.seen {
		switch came := s.outcomes[path]; {
		case picture.Broken: // what came of its examples says nothing of how it is now
			end.told = end.told && len(s.seen) > 1
		case came != nil:
			end.add(came)
		}
	}
	end.sort()
	return s.view.end(end)
}

// runOf runs the examples of one skill. The error is that of the view.
func (s *session) runOf(ctx context.Context, path string) (*outcomes, error) {
	was, now := s.outcomes[path], &outcomes{results: map[string]examples.Result{}}
	var failed error
	runner := *s.Examples
	runner.Begun = func(skill *catalog.Skill, name string) {
		failed = errors.Join(failed, s.view.running(Running{Number: s.rounds, Skill: skill.Name, Name: name}))
	}
	now.faults = runner.Run(ctx, s.skills[path], func(result examples.Result) {
		result.File, result.Faults = validating.Shown(s.From, result.File), s.shown(result.Faults)
		key := exampleKey(result)
		e := Example{Number: s.rounds, Result: result}
		if was != nil {
			if before, ran := was.results[key]; ran {
				e.was(before)
			}
		}
		now.results[key] = result
		failed = errors.Join(failed, s.view.example(e))
	})
	now.faults = s.shown(now.faults)
	if len(now.faults) > 0 && ctx.Err() == nil {
		failed = errors.Join(failed, s.view.faults(now.faults))
	}
	return now, failed
}

// shown returns faults with the paths of files as they are shown.
func (s *session) shown(faults []examples.Fault) []examples.Fault {
	for i := range faults {
		faults[i].File = validating.Shown(s.From, faults[i].File)
	}
	return faults
}
