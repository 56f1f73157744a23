package shares

import (
	"context"

	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

// Set is a change set of a directory that is lent here, under the rules that
// hold here.
type Set struct {
	access *Access
	set    *changes.Set
	of     Directory
}

// judge returns the judge of one look at the set.
func (s *Set) judge() changes.Judge { return Judge(s.of.Rules(), s.set) }

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
			return &Set{access: a, set: set, of: of}, nil
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
func (s *Set) Held(ctx context.Context) (changes.Held, error) { return s.set.Held(ctx, s.judge()) }

// HeldAs returns what the set holds, where that is the state of an id. If not, the
// error is a [changes.AppliedError] or a [changes.StaleError].
func (s *Set) HeldAs(ctx context.Context, id string) (changes.Held, error) {
	held, err := s.Held(ctx)
	if err != nil || held.ID == id {
		return held, err
	}
	all, err := s.access.Store.Applied()
	if err != nil {
		return held, err
	}
	for _, applied := range all {
		if applied.Held == id && applied.Undone.IsZero() {
			return held, &changes.AppliedError{Undo: applied.ID, When: applied.When, Held: held}
		}
	}
	return held, &changes.StaleError{Held: held}
}

// Diff returns how what is held at paths differs from the user's files, in at
// most so many bytes; 0 means as many as there may be.
func (s *Set) Diff(ctx context.Context, paths []string, bytes int) (changes.Diff, error) {
	return s.set.Diff(ctx, changes.DiffOptions{Paths: paths, Judge: s.judge(), Bytes: bytes, Show: s.access.Redact.String})
}

// Apply writes what is held at paths, in the state of that id, to the user's
// directory.
func (s *Set) Apply(ctx context.Context, id string, paths []string) (changes.Outcome, error) {
	return s.set.Apply(ctx, id, paths, s.judge())
}

// Discard forgets what is held at paths.
func (s *Set) Discard(ctx context.Context, id string, paths []string) (changes.Held, error) {
	return s.set.Discard(ctx, id, paths, s.judge())
}

// Summary returns what a set holds as a result shows it.
func (s *Set) Summary(held changes.Held) ChangeSet {
	summary := ChangeSet{ID: held.ID, Of: s.of.Path}
	summary.Held, summary.Omitted = Bounded(held.Files, held.OmittedFiles)
	summary.Refused, summary.RefusedOmitted = Bounded(held.Refused, held.OmittedRefused)
	return summary
}
