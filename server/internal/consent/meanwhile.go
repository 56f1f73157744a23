package consent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/policy/approval"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// Run is a run during which its user may be asked, by one goroutine at a time.
type Run struct {
	// Program is the same text where the same is run again.
	Program string
	// Questions is how many questions there may still be, and Wait how long all of
	// them may still take together.
	Questions int
	Wait      time.Duration
}

// AskMeanwhile asks while a program waits, where the protocol of its client lets a
// server do so. An empty outcome says that nobody can be asked, or not any more:
// no program may have its user asked until they give in.
//
// From protocol version 2026-07-28 on a server asks by the result of a call, for
// which the program would have to have ended, and would be run again, with all
// that it did, when there is an answer. So the question is put off until the caller
// has it run again ([Door.AskBefore]), and so is one that is not answered in time.
func (d *Door) AskMeanwhile(ctx context.Context, q Question, run *Run) Answer {
	account := d.account(ctx, q)
	if answer, known := d.known(ctx, q, account); known {
		return answer
	}
	if modern(ctx) {
		if !account.putOff(deferred{run.Program, d.questionMark(q), q}) {
			return Answer{}
		}
		return Answer{Outcome: Later}
	}
	select { // for another run, which may ask the same
	case account.turn <- struct{}{}:
		defer func() { <-account.turn }()
	case <-ctx.Done():
		return Answer{}
	}
	answer, known := d.known(ctx, q, account)
	if known || run.Questions <= 0 || run.Wait <= 0 || !account.begin() {
		return answer
	}
	run.Questions--
	began := time.Now()
	defer func() { run.Wait -= time.Since(began) }()
	return d.askNow(ctx, q, account, run, answer.Rule)
}

// askNow asks a client of an earlier protocol version.
func (d *Door) askNow(ctx context.Context, q Question, account *account, run *Run, rule string) Answer {
	asked := d.questionMark(q)
	given, err := d.await(ctx, q, d.choices(ctx, q), run.Wait)
	if err == nil {
		answer, err := d.judge(ctx, q, given, rule)
		if err != nil {
			answer = Answer{Rule: rule}
		}
		account.end(asked, answer.Outcome)
		return answer
	}
	if ctx.Err() != nil || failure.Of(err).Code != failure.ConsentExpired {
		return Answer{Rule: rule}
	}
	account.end(asked, Unanswered)
	if !account.putOff(deferred{run.Program, asked, q}) {
		return Answer{Rule: rule}
	}
	return Answer{Rule: rule, Outcome: Unanswered}
}

// AskBefore asks what was put off until a program of a skill is run again; of q the
// skill counts. An error is one for the client, as that of [Door.Ask]. What the user
// refuses is told to the program when it asks.
func (d *Door) AskBefore(ctx context.Context, q Question, program string) error {
	account := d.account(ctx, q)
	for _, due := range account.due(program) {
		if _, known := d.known(ctx, due.q, account); known || due.q.Digest != q.Digest {
			continue
		}
		_, err := d.Ask(ctx, due.q)
		var asking *pending
		var declined *Declined
		switch {
		case errors.As(err, &asking) && !account.begin():
		case errors.As(err, &declined):
			account.end(due.asked, declined.Answer.Outcome)
		case err != nil:
			return err
		}
	}
	return nil
}

// account returns what the caller was asked for programs of a skill.
func (d *Door) account(ctx context.Context, q Question) *account {
	caller := d.callerMark(ctx)
	return d.accounts.get(d.sealer.mark("account", string(caller[:]), q.Skill, q.Dir), d.opts.Now())
}

// known returns what there is no need to ask: what the user has said before, or
// nothing where nobody can be asked.
func (d *Door) known(ctx context.Context, q Question, account *account) (answer Answer, known bool) {
	decision, scope := d.decide(ctx, q, true)
	answer.Rule = decision.Rule
	asked, round := d.questionMark(q), roundFrom(ctx)
	refused, before := account.refusal(asked)
	switch {
	case decision.Effect == policy.Allow && scope != "":
		answer.Outcome, answer.Scope = Allowed, scope
	case decision.Effect != policy.Ask || round == nil || !canAsk(ctx):
	case slices.Contains(round.granted, asked):
		answer.Outcome, answer.Scope = Allowed, approval.Once
	case before:
		answer.Outcome = refused
	default:
		return answer, false
	}
	return answer, true
}
