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
	decision := approval.Decide(approval.Request{Kind: kind, Config: d.opts.Modes, Skill: d.opts.Skills[skill], CanAsk: true})
	return decision.Effect != policy.Allow
}

// Ask returns why something may be done. An error is to be returned by the
// tool's handler as it is: that it may not, that the user declined
// ([Declined]), or that the user is being asked.
func (d *Door) Ask(ctx context.Context, q Question) (Answer, error) {
	round := roundFrom(ctx)
	answer, ask, err := d.decide(ctx, q, round != nil && canAsk(ctx))
	if err != nil || !ask {
		return answer, err
	}
	return round.answer(ctx, d, q, answer.Rule)
}

// Permit is Ask where there is no way to ask: what would have to be asked about
// is refused, unless the user has allowed it before.
func (d *Door) Permit(ctx context.Context, q Question) error {
	_, _, err := d.decide(ctx, q, false)
	return err
}

// decide returns why something may be done, or whether to ask, by which rule.
func (d *Door) decide(ctx context.Context, q Question, able bool) (_ Answer, ask bool, _ error) {
	request := approval.Request{Kind: q.Kind, Config: d.opts.Modes, Skill: d.opts.Skills[q.Skill], CanAsk: true}
	decision := approval.Decide(request)
	if decision.Effect == policy.Ask {
		request.Answered = d.remembered(ctx, q)
		decision = approval.Decide(request)
	}
	code := failure.PermissionDenied
	if decision.Effect == policy.Ask && !able {
		request.CanAsk, code = false, failure.ConsentUnavailable
		decision = approval.Decide(request)
	}
	answer := Answer{Rule: decision.Rule, Scope: request.Answered}
	switch decision.Effect {
	case policy.Allow:
		if answer.Scope != "" {
			answer.Outcome = Allowed
		}
		return answer, false, nil
	case policy.Ask:
		return answer, true, nil
	}
	return Answer{}, false, failure.New(code, decision.Hint, "%s (rule %q)", strings.TrimSuffix(decision.Reason, "."), decision.Rule)
}
