package shares

import (
	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

// Granted returns what a run saw of the user's, for the audit log.
func (r Report) Granted() (granted []string) {
	if r.Project != nil && r.Project.Access != Off {
		granted = append(granted, "project "+string(r.Project.Access)+" "+r.Project.Path)
	}
	for _, share := range r.Shares {
		if share.Access != Off {
			granted = append(granted, "share "+string(share.Access)+" "+share.Path)
		}
	}
	return granted
}

// Record returns what a run changed of the user's, for the audit log.
func (r Report) Record() (recorded []audit.Changes) {
	sets := r.OtherChanges
	if r.Changes != nil {
		sets = append([]ChangeSet{*r.Changes}, sets...)
	}
	for _, set := range sets {
		recorded = append(recorded, audit.Changes{
			ID: set.ID, Of: set.Of, Held: len(set.Held) + set.Omitted,
			Applied: changedPaths(set.outcome.Applied), Conflicts: refusedPaths(set.outcome.Conflicts), Refused: refusedPaths(set.Refused),
		})
	}
	return recorded
}

// RecordOutcome returns what became of an apply, or of an undo, of changes, for
// the audit log.
func RecordOutcome(id, of string, outcome changes.Outcome) audit.Changes {
	return audit.Changes{
		ID: id, Of: of, Held: len(outcome.Remaining.Files) + outcome.Remaining.OmittedFiles,
		Applied: changedPaths(outcome.Applied), Conflicts: refusedPaths(outcome.Conflicts), Refused: refusedPaths(outcome.Refused),
	}
}

func changedPaths(list []changes.Change) (paths []string) {
	for _, change := range list {
		paths = append(paths, change.Path)
	}
	return paths
}

func refusedPaths(list []changes.Refusal) (paths []string) {
	for _, refusal := range list {
		paths = append(paths, refusal.Path)
	}
	return paths
}
