package server

import (
	"context"
	"encoding/json"

	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/server/internal/consent"
	"github.com/skills-mcp/skills-mcp/server/internal/recorder"
)

// answered returns what records the answers of users.
func answered(to recorder.Recorder) func(context.Context, consent.Question, consent.Answer) {
	return func(ctx context.Context, q consent.Question, a consent.Answer) {
		input, _ := json.Marshal(map[string]string{"kind": string(q.Kind), "question": q.Title, "covers": q.Covers}) // of texts
		outcome := audit.OK
		if a.Outcome != consent.Allowed {
			outcome = audit.Denied
		}
		to.Answered(ctx, audit.Record{
			Skill: q.Skill, Digest: q.Digest, Input: input, Decision: policy.Ask.String(), Rule: a.Rule, Answer: a.Word(), Outcome: outcome,
		})
	}
}
