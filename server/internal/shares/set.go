package shares

import (
	"context"

	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

// Set is a change set of a directory that is lent here, under the rules that
// hold here.
type Set struct {
	set   *changes.Set
	of    Directory
	judge changes.Judge
}

// Open opens the change set of an id, in whatever state it is. Sets of other
// directories than those that are lent are unknown, and so are all where
// nothing is lent. The caller closes it.
func (a *Access) Open(ctx context.Context, id string) (*Set, error) {
	if a == nil || a.Store == nil {
		return nil, changes.ErrUnknown
	}
	set, err := a.Store.Open(id)
	if err != nil {
		return nil, err
	}
	directories, _ := a.directories(ctx)
	for _, of := range directories {
		if of.Path == set.Target().Path && of.Mode != Read {
			return &Set{set: set, of: of, judge: Judge(of.Rules, set)}, nil
		}
	}
	a.close(set)
	return nil, changes.ErrUnknown
}

// Close ends the use of the set.
func (s *Set) Close() error { return s.set.Close() }

// Target returns what the set is about.
func (s *Set) Target() changes.Target { return s.set.Target() }

// Held returns what the set holds.
func (s *Set) Held(ctx context.Context) (changes.Held, error) { return s.set.Held(ctx, s.judge) }

// Diff returns how what is held at paths differs from the user's files, in at
// most so many bytes; 0 means as many as there may be.
func (s *Set) Diff(ctx context.Context, paths []string, bytes int) (changes.Diff, error) {
	return s.set.Diff(ctx, changes.DiffOptions{Paths: paths, Judge: s.judge, Bytes: bytes})
}

// Apply writes what is held at paths, in the state of that id, to the user's
// directory.
func (s *Set) Apply(ctx context.Context, id string, paths []string) (changes.Outcome, error) {
	return s.set.Apply(ctx, id, paths, s.judge)
}

// Discard forgets what is held at paths.
func (s *Set) Discard(ctx context.Context, id string, paths []string) (changes.Held, error) {
	return s.set.Discard(ctx, id, paths, s.judge)
}

// Summary returns what a set holds as a result shows it.
func (s *Set) Summary(held changes.Held) ChangeSet {
	summary := ChangeSet{ID: held.ID, Of: s.of.Path}
	summary.Held, summary.Omitted = bounded(held.Files, held.OmittedFiles)
	summary.Refused, summary.RefusedOmitted = bounded(held.Refused, held.OmittedRefused)
	return summary
}
