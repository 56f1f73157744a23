// Package consent is the door that everything passes which a user may have to
// consent to: it holds what is to be done to package approval, and where that
// says so asks the user by elicitation, in both eras of the protocol.
//
// A tool's handler calls [Door.Ask] before it does something, and returns the
// error if there is one. Where the client has to be asked first, that error ends
// the call for now; it releases all that the call holds, and the whole call is
// made again when there is an answer. So handlers ask before they take a turn, a
// lease or anything else that others wait for.
//
// An answer comes from a client, which may give it without any person: consent
// is a convenience above the sandbox, and no boundary. What the package makes
// sure of is that an answer is one to this question, in this process, of this
// caller about this call, not too old, and used once.
package consent

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/answers"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/policy/approval"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// Options are what a door is made of.
type Options struct {
	// Modes are the operator's, and Skills further ones by the names of skills.
	// The strictest wins.
	Modes  approval.Modes
	Skills map[string]approval.Modes
	// Answers remembers answers for always. If nil, none is offered.
	Answers *answers.Store
	// Answered, if not nil, is called with every answer that a client gave.
	Answered func(ctx context.Context, q Question, a Answer)
	// Now is the clock. If nil, it is [time.Now].
	Now func() time.Time
	// Logger is required.
	Logger *slog.Logger
}

// Door is what everything passes. It is safe for use by several goroutines.
type Door struct {
	opts        Options
	sealer      *sealer
	outstanding outstanding
	waiting     waiting
	sessions    sessions
	accounts    accounts
}

// New returns a door.
func New(opts Options) *Door {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Door{opts: opts, sealer: newSealer()}
}

// Outcome is what a client answered.
type Outcome string

// The outcomes.
const (
	Allowed  Outcome = "allowed"
	Refused  Outcome = "declined" // by choice
	Canceled Outcome = "canceled" // no choice was made
	// Of what a program waits for ([Door.AskMeanwhile]): no answer came in time, or
	// the client can only be asked before a call, so that the next one asks.
	Unanswered Outcome = "unanswered"
	Later      Outcome = "later"
)

// Answer says why something may be done, or that it may not.
type Answer struct {
	// Rule names what decided, such as "approval.runs: ask".
	Rule string
	// Outcome and Scope are the user's, of this call or of an earlier one.
	// They are empty where nobody had to be asked.
	Outcome Outcome
	Scope   approval.Scope
}

// Needed reports whether anything of a kind may have to be asked about, for the
// skill of a name or for none. Where it reports false, Ask allows it.
func (d *Door) Needed(kind approval.Kind, skill string) bool {
	return d.MayAsk(Question{Kind: kind, Skill: skill})
}

// MayAsk reports whether a question may have to be asked. Where it reports false,
// Ask allows it.
func (d *Door) MayAsk(q Question) bool {
	return d.strictest(q, approval.Request{CanAsk: true}).Effect != policy.Allow
}

// strictest decides for all skills that want something.
func (d *Door) strictest(q Question, request approval.Request) policy.Decision {
	names := append([]string{q.Skill}, q.Others...)
	if q.Unattributed {
		names = slices.AppendSeq(names, maps.Keys(d.opts.Skills))
	}
	request.Kind, request.Config = q.Kind, d.opts.Modes
	var strictest policy.Decision
	for i, name := range names {
		request.Skill = d.opts.Skills[name]
		decision := approval.Decide(request)
		if i == 0 || severity(decision) > severity(strictest) {
			strictest = decision
		}
	}
	return strictest
}

// severity orders decisions, the laxest first.
func severity(decision policy.Decision) int {
	return slices.Index([]policy.Effect{policy.Allow, policy.Ask, policy.Deny}, decision.Effect)
}

// Asks reports whether the user is asked about a kind, for the skill of a name,
// where there is a way to ask.
func (d *Door) Asks(kind approval.Kind, skill string) bool {
	return d.strictest(Question{Kind: kind, Skill: skill}, approval.Request{CanAsk: true}).Effect == policy.Ask
}

// Ask returns why something may be done. An error is to be returned by the
// tool's handler as it is: that it may not, that the user declined
// ([Declined]), or that the user is being asked. Where no tool is called, the
// user cannot be asked, and what was allowed before is allowed.
func (d *Door) Ask(ctx context.Context, q Question) (Answer, error) {
	decision, scope := d.decide(ctx, q, true)
	noteDecision(ctx, decision, scope)
	round := roundFrom(ctx)
	switch {
	case decision.Effect == policy.Allow && scope == "":
		return Answer{Rule: decision.Rule}, nil
	case decision.Effect == policy.Allow:
		return Answer{Rule: decision.Rule, Outcome: Allowed, Scope: scope}, nil
	case decision.Effect != policy.Ask:
		return Answer{}, refusal(failure.PermissionDenied, decision)
	case round == nil:
		decision.Hint = "Call the tool that does the same, such as activate or readResource: it can ask, and an answer for longer than once holds here too."
		return Answer{}, refusal(failure.ConsentUnavailable, decision)
	case !canAsk(ctx):
		decision, _ = d.decide(ctx, q, false)
		noteDecision(ctx, decision, "")
		return Answer{}, refusal(failure.ConsentUnavailable, decision)
	}
	return round.answer(ctx, d, q, decision.Rule)
}

// decide returns what is to be done about a question, and the scope in which it
// was answered before.
func (d *Door) decide(ctx context.Context, q Question, able bool) (policy.Decision, approval.Scope) {
	request := approval.Request{CanAsk: able}
	if d.MayAsk(q) {
		request.Answered = d.remembered(ctx, q)
	}
	return d.strictest(q, request), request.Answered
}

func refusal(code failure.Code, decision policy.Decision) *failure.Failure {
	return failure.New(code, decision.Hint, "%s (rule %q)", strings.TrimSuffix(decision.Reason, "."), decision.Rule)
}
