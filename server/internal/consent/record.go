package consent

import (
	"context"

	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/policy/approval"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
)

// noteDecision notes for the audit log what was decided, where it is more than
// that nobody has to be asked, and in which scope it was answered before.
func noteDecision(ctx context.Context, decision policy.Decision, scope approval.Scope) {
	if decision.Effect == policy.Allow && scope == "" {
		return
	}
	request.Note(ctx, func(record *audit.Record) {
		record.Decision, record.Rule, record.Answer = decision.Effect.String(), decision.Rule, string(scope)
	})
}

// noteAnswer notes what a client answered.
func noteAnswer(ctx context.Context, q Question, answer Answer) {
	request.Note(ctx, func(record *audit.Record) {
		record.Digest, record.Answer = q.Digest, answer.Word()
		if answer.Outcome != Allowed && q.Kind != approval.Network { // whose call goes on
			record.Outcome = audit.Denied
		}
	})
}

// noteAsking notes that a call ends with a question, and is to be made again.
func noteAsking(ctx context.Context) {
	request.Note(ctx, func(record *audit.Record) { record.Outcome = audit.Asked })
}

// Word returns an answer in a word: its scope, or how it was refused.
func (a Answer) Word() string {
	if a.Outcome == Allowed {
		return string(a.Scope)
	}
	return string(a.Outcome)
}
