package catalog

import (
	"cmp"
	"context"
	"log/slog"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/text/unicode/norm"

	"github.com/skills-mcp/skills-mcp/catalog/internal/archive"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
	"github.com/skills-mcp/skills-mcp/catalog/internal/watch"
)

// scanState is what one scan leaves to the next. It is owned by the holder
// of [Catalog.scanning].
type scanState struct {
	scan       int64        // the number of the last one that came to its end
	candidates []*candidate // in order of precedence
	problems   []Problem    // of roots and directories
	archives   archive.Archives
	watcher    *watch.Watcher // of the running Watch, or nil
}

// scan looks at all roots and swaps the snapshot.
func (c *Catalog) scan(ctx context.Context) error {
	start := time.Now()
	w := &walker{
		ctx: ctx, log: c.log, roots: c.options.Roots, strict: c.options.Strict,
		archives: &c.state.archives, withheld: c.options.Withheld, seen: map[string]bool{}, deep: map[int]bool{},
	}
	c.state.archives.Begin()
	if c.state.watcher != nil {
		c.state.watcher.Begin()
		w.watch = c.state.watcher.Add
	}
	if err := w.walk(); err != nil {
		return err
	}
	if err := c.load(ctx, w.found); err != nil {
		return err
	}
	c.state.archives.End()
	if c.state.watcher != nil {
		c.state.watcher.End()
	}
	c.state.candidates, c.state.problems = byPrecedence(w.found), w.problems
	c.publish()
	c.log.Debug("scanned", "skills", len(c.Snapshot().skills), "directories", w.dirs, "took", time.Since(start))
	return nil
}

// load reads the entry documents that changed, several at a time.
func (c *Catalog) load(ctx context.Context, found []*candidate) error {
	old := make(map[string]*candidate, len(c.state.candidates))
	for _, candidate := range c.state.candidates {
		old[candidate.shown] = candidate
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	const batch = 64
	for chunk := range slices.Chunk(found, batch) {
		group.Go(func() error {
			for _, candidate := range chunk {
				candidate.load(old[candidate.shown], c.options.Strict)
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// byPrecedence sorts candidates: earlier roots first, and in a root what is
// nearer to it.
func byPrecedence(found []*candidate) []*candidate {
	slices.SortStableFunc(found, func(a, b *candidate) int {
		return cmp.Or(
			cmp.Compare(a.root, b.root),
			cmp.Compare(a.depth, b.depth),
			cmp.Compare(a.shown, b.shown),
		)
	})
	return slices.DeleteFunc(found, func(c *candidate) bool { return c.gone })
}

// publish builds a snapshot from the candidates, swaps it in and wakes the
// Watch, if there is one.
func (c *Catalog) publish() {
	before, after := c.Snapshot(), c.assemble()
	c.snapshot.Store(after)
	c.logProblems(before, after)
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

func (c *Catalog) assemble() *Snapshot {
	s := &Snapshot{byName: make(map[string]*Skill, len(c.state.candidates))}
	s.problems = append(s.problems, c.state.problems...)
	if c.state.watcher != nil {
		s.problems = append(s.problems, c.state.watcher.Problems()...)
	}
	winners := make(map[string]*candidate, len(c.state.candidates))
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
			r := &problem.Report{File: shownPath(candidate.shown, candidate.entry), Strict: c.options.Strict}
			r.Add("name-taken", problem.Position{}, "the name %q is taken by %s", candidate.skill.Name, shownPath(winner.shown, winner.entry))
			r.Problems[0].Skill = candidate.skill.Name
			s.problems = append(s.problems, r.Problems...)
			continue
		}
		winners[name] = candidate
		s.skills = append(s.skills, candidate.skill)
	}
	nest(s.skills)
	for _, skill := range s.skills {
		s.byName[skill.Name] = skill
	}
	for _, skills := range [][]*Skill{s.skills, s.hidden} {
		slices.SortStableFunc(skills, func(a, b *Skill) int { return cmp.Compare(a.Name, b.Name) })
	}
	slices.SortFunc(s.problems, problem.Compare)
	return s
}

// logProblems logs the problems that are new.
func (c *Catalog) logProblems(before, after *Snapshot) {
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
