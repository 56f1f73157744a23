package server

import (
	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/policy/paths"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
)

// Shares are the directories of the user that programs may work on. The zero
// value has none.
type Shares = shares.Options

// SharedDirectory is one of them.
type SharedDirectory = shares.Directory

// ShareMode is what the operator allows in a directory.
type ShareMode = shares.Mode

// ShareReview has changes held.
const ShareReview = shares.Review

// Judge returns what refuses changes in a set that the rules protect from.
func Judge(rules paths.Rules, set *changes.Set) changes.Judge { return shares.Judge(rules, set) }

// RecordOutcome returns what became of an apply, or of an undo, of changes to a
// directory, for the audit log.
func RecordOutcome(id, of string, outcome changes.Outcome) audit.Changes {
	return shares.RecordOutcome(id, of, outcome)
}

// DefaultShareWait is how long edits and applies wait for programs that work on
// the same files.
const DefaultShareWait = shares.DefaultWait

// GitPrefix is the [SharedDirectory.Prefix] of a git directory by itself.
const GitPrefix = shares.GitPrefix
