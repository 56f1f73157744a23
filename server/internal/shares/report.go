package shares

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/policy/paths"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
)

// maxReported is how many changes of one set a result lists.
const maxReported = 100

// Report is what a run's result says about the user's directories.
type Report struct {
	// Project is nil where there is none.
	Project *Shown `json:"project,omitempty"`
	// Shares are the other directories.
	Shares []Shown `json:"shares,omitempty"`
	// Changes are those of the project, or of the first directory that has any
	// where the project has none; OtherChanges are those of the others.
	Changes      *ChangeSet  `json:"changes,omitempty"`
	OtherChanges []ChangeSet `json:"otherChanges,omitempty"`
	// Hidden is what the run did not see of the directories, with paths relative
	// to each, or saw otherwise. It is not part of the result.
	Hidden []project.Masked `json:"-"`
}

// Shown is a directory as a run saw it.
type Shown struct {
	// Path is where programs saw it.
	Path   string `json:"path,omitempty"`
	Access Mode   `json:"access"`
	Reason string `json:"reason,omitempty"`
}

// Off is the [Shown.Access] to what was not shown.
const Off Mode = "off"

// ChangeSet is what is held of one directory.
type ChangeSet struct {
	ID string `json:"id"`
	// Of is the user's directory.
	Of      string           `json:"of"`
	Held    []changes.Change `json:"held"`
	Omitted int              `json:"heldOmitted,omitempty"`
	// Refused cannot be applied, ever.
	Refused        []changes.Refusal `json:"refused,omitempty"`
	RefusedOmitted int               `json:"refusedOmitted,omitempty"`
	// Applied was written to the directory when the run ended, as the operator
	// allowed beforehand; Conflicts should have been.
	Applied          []changes.Change  `json:"applied,omitempty"`
	AppliedOmitted   int               `json:"appliedOmitted,omitempty"`
	Conflicts        []changes.Refusal `json:"conflicts,omitempty"`
	ConflictsOmitted int               `json:"conflictsOmitted,omitempty"`
	Undo             string            `json:"undo,omitempty"`
	// Fault says why the set cannot be looked at, or was not applied.
	Fault string `json:"fault,omitempty"`

	outcome changes.Outcome // of applying, with all of it
}

// ProjectFault says in a sentence why the project is not lent, or nothing where it
// is, or there is none.
func (l *Lease) ProjectFault() string {
	if !l.project {
		return ""
	}
	return sentence(l.loans[0].fault)
}

// Report returns what became of the directories in a run that saw them as the
// sandbox says, and applies what needs no consent. The lease is released.
func (l *Lease) Report(ctx context.Context, shared []sandbox.Shared) Report {
	var report Report
	var sets []ChangeSet
	for i, lent := range l.loans {
		report.Hidden = append(report.Hidden, lent.hidden...)
		shown := Shown{Access: Off, Reason: sentence(lent.fault)}
		if lent.fault == nil && len(shared) > 0 {
			shown, shared = shownAs(lent.of, shared[0]), shared[1:]
		}
		if i == 0 && l.project {
			report.Project = &shown
		} else {
			report.Shares = append(report.Shares, shown)
		}
		if lent.set != nil {
			if set := l.access.settle(ctx, lent); set != nil {
				sets = append(sets, *set)
			}
		}
	}
	if len(sets) > 0 {
		report.Changes, report.OtherChanges = &sets[0], sets[1:]
	}
	return report
}

func shownAs(of Directory, as sandbox.Shared) Shown {
	shown := Shown{Path: as.Path, Access: Mode(as.Access), Reason: as.Reason}
	if as.Access == sandbox.AccessReview {
		shown.Access = of.Mode
	}
	return shown
}

// settle applies what needs no consent and returns what is held then; nil where
// there is nothing.
func (a *Access) settle(ctx context.Context, l *loan) *ChangeSet {
	set := &ChangeSet{Of: l.of.Path}
	rules := l.of.Rules()
	held, err := l.set.Held(ctx, Judge(rules, l.set))
	if err == nil {
		if freed := free(l.of, rules, held); len(freed) > 0 {
			held, err = set.apply(ctx, l.set, held, freed, Judge(rules, l.set))
		}
	}
	if err = errors.Join(l.late, err); err != nil {
		a.log.Warn("changes cannot be looked at or applied", "path", l.of.Path, "error", err)
		set.Fault = sentence(err)
	}
	if held.Empty() && len(set.outcome.Applied) == 0 && set.Fault == "" {
		return nil
	}
	set.ID = held.ID
	set.Held, set.Omitted = Bounded(held.Files, held.OmittedFiles)
	set.Refused, set.RefusedOmitted = Bounded(held.Refused, held.OmittedRefused)
	return set
}

// settleTimeout is how long changes that need no consent wait for other runs that
// use the same set. The last of these applies them.
const settleTimeout = time.Second

// apply applies what is held at paths, and returns what is held then.
func (s *ChangeSet) apply(ctx context.Context, set *changes.Set, held changes.Held, paths []string, judge changes.Judge) (changes.Held, error) {
	outcome, err := set.WaitAtMost(settleTimeout).Apply(ctx, held.ID, paths, judge)
	stale := (*changes.StaleError)(nil)
	switch {
	case errors.As(err, &stale): // another run has changed it meanwhile
		return stale.Held, nil
	case errors.Is(err, changes.ErrBusy):
		return held, nil
	case err != nil:
		return held, err
	}
	s.outcome, s.Undo = outcome, outcome.Undo
	s.Applied, s.AppliedOmitted = Bounded(outcome.Applied, 0)
	s.Conflicts, s.ConflictsOmitted = Bounded(outcome.Conflicts, 0)
	return outcome.Remaining, nil
}

// free returns what of the held changes is applied without asking.
func free(of Directory, rules paths.Rules, held changes.Held) (free []string) {
	for _, change := range held.Files {
		if change.Conflict == "" && (of.Mode == Write || rules.Writable(of.Prefix+change.Path, kindOf(change))) {
			free = append(free, change.Path)
		}
	}
	return slices.Compact(free)
}

// Bounded returns the first of a list, as many as a result has, and how many there
// are besides.
func Bounded[T any](list []T, omitted int) ([]T, int) {
	if len(list) <= maxReported {
		return list, omitted
	}
	return list[:maxReported], omitted + len(list) - maxReported
}

// sentence is an error as clients may see it: those that say what to do have no
// host paths in them.
func sentence(err error) string {
	if err == nil {
		return ""
	}
	if refused, ok := errors.AsType[*project.Refusal](err); ok {
		return "The directory " + strings.TrimSuffix(refused.Reason, ".") + "."
	}
	for _, known := range shownErrors {
		if errors.Is(err, known) {
			return strings.ToUpper(known.Error()[:1]) + known.Error()[1:] + "."
		}
	}
	return "It cannot be shown; the server's log says why."
}

// shownErrors have messages for people.
var shownErrors = []error{
	changes.ErrUnsupported, changes.ErrBusy, changes.ErrTooLarge, changes.ErrTargetGone, changes.ErrTargetReplaced,
	changes.ErrTargetUnusable, changes.ErrFull, changes.ErrState,
}
