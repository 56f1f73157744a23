package consent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/policy/approval"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
)

// maxRounds bounds the questions of one call.
const maxRounds = 8

// responseID names the one question that a result asks.
const responseID = "consent"

// Call is one call of a tool, as its client made it.
type Call struct {
	Tool      string
	Arguments json.RawMessage
	// State and Responses are the client's, where it makes the call again with
	// an answer.
	State     string
	Responses mcp.InputResponses
}

// round is a call with the answers that there are by now. One goroutine uses it.
type round struct {
	call Call
	// granted are the questions that this call was answered before.
	granted []mark
	// asked is the question that response answers, while it is not used.
	asked    mark
	response *mcp.ElicitationResult
}

type roundKey struct{}

func roundFrom(ctx context.Context) *round {
	r, _ := ctx.Value(roundKey{}).(*round)
	return r
}

// pending is the error of a call that cannot go on before its user has answered.
type pending struct {
	question Question
	choices  []string
	asked    mark
	granted  []mark
}

func (p *pending) Error() string { return "the user is asked first: " + p.question.Title }

// Serve serves a call whose handler asks. A client from protocol version
// 2026-07-28 on gets a result that asks it to make the call again with the
// user's answer; for another one this waits for the answer and calls serve again
// itself.
func (d *Door) Serve(ctx context.Context, call Call, serve func(context.Context) (*mcp.CallToolResult, error)) (*mcp.CallToolResult, error) {
	r, err := d.open(ctx, call)
	if err != nil {
		return nil, err
	}
	for range maxRounds {
		result, err := serve(context.WithValue(ctx, roundKey{}, r))
		var p *pending
		if !errors.As(err, &p) {
			return result, err
		}
		if modern(ctx) {
			noteAsking(ctx)
			return d.inputRequired(ctx, call, p), nil
		}
		response, err := d.elicit(ctx, p)
		if err != nil {
			return nil, err
		}
		r = &round{call: call, granted: p.granted, asked: p.asked, response: response}
	}
	return nil, failure.New(failure.ConsentBusy, "Tell the user.", "one call has more than %d questions", maxRounds)
}

// open reads the answer that comes with a call.
func (d *Door) open(ctx context.Context, call Call) (*round, error) {
	r := &round{call: call}
	if call.State == "" {
		if len(call.Responses) > 0 {
			return nil, failure.New(failure.ConsentInvalid, hintAskAgain, "there are inputResponses, and no requestState to say what they answer")
		}
		return r, nil
	}
	st, err := d.sealer.open(call.State)
	if err != nil {
		return nil, err
	}
	switch {
	case st.caller != d.callerMark(ctx):
		return nil, failure.New(failure.ConsentMismatch, hintAskAgain, "the requestState is that of another caller")
	case st.call != d.callMark(call):
		return nil, failure.New(failure.ConsentMismatch, hintAskAgain, "the requestState is that of a call of another tool or with other arguments")
	case d.opts.Now().Unix() >= st.expires:
		return nil, failure.New(failure.ConsentExpired, hintAskAgain, "the question was to be answered within %.0f minutes", lifetime.Minutes())
	case !d.outstanding.take(st.nonce):
		return nil, failure.New(failure.ConsentUsed, hintAskAgain, "the requestState was used before, or the question was given up for later ones")
	}
	r.granted, r.asked = st.granted, st.asked
	if r.response = mcpserver.ElicitationResponse(call.Responses, responseID); r.response == nil {
		return nil, failure.New(failure.ConsentUnclear, hintAskAgain, "there is a requestState, and no answer to %q in inputResponses", responseID)
	}
	return r, nil
}

// answer uses the answer to a question, or asks it.
func (r *round) answer(ctx context.Context, d *Door, q Question, rule string) (Answer, error) {
	asked := d.questionMark(q)
	switch {
	case slices.Contains(r.granted, asked):
		return Answer{Rule: rule, Outcome: Allowed, Scope: approval.Once}, nil
	case r.response == nil:
		return Answer{}, &pending{question: q, choices: d.choices(ctx, q), asked: asked, granted: r.granted}
	case r.asked != asked:
		return Answer{}, failure.New(failure.ConsentMismatch, hintAskAgain,
			"what the user was asked about has changed since: the skill, what is to be done, or where")
	}
	given := r.response
	r.response = nil
	answer, err := d.judge(ctx, q, given, rule)
	if err != nil {
		return Answer{}, err
	}
	noteAnswer(ctx, q, answer)
	switch {
	case answer.Outcome != Allowed:
		return Answer{}, &Declined{Title: strings.TrimSuffix(q.Title, "."), Answer: answer}
	}
	r.granted = append(r.granted, asked)
	return answer, nil
}

// judge returns what a client's answer says, and keeps and records it.
func (d *Door) judge(ctx context.Context, q Question, given *mcp.ElicitationResult, rule string) (Answer, error) {
	answer := Answer{Rule: rule}
	switch given.Action {
	case mcp.ElicitationResponseActionDecline:
		answer.Outcome = Refused
	case mcp.ElicitationResponseActionCancel:
		answer.Outcome = Canceled
	case mcp.ElicitationResponseActionAccept:
		choice := chosen(given.Content)
		if !slices.Contains(d.choices(ctx, q), choice) {
			return Answer{}, failure.New(failure.ConsentUnclear, "Do not do it another way; tell the user that the client's answer cannot be used.",
				"the client accepted without one of the choices, so nothing is allowed by that")
		}
		if choice == choiceDecline {
			answer.Outcome = Refused
			break
		}
		answer.Outcome, answer.Scope = Allowed, d.remember(ctx, q, scopes[choice])
	default:
		return Answer{}, failure.New(failure.ConsentUnclear, "Tell the user that the client's answer cannot be used.",
			"the client's answer neither accepts, declines nor cancels")
	}
	d.opts.Logger.Info("the user was asked", "kind", q.Kind, "skill", q.Skill, "digest", q.Digest, "answer", answer.Outcome, "scope", answer.Scope)
	if d.opts.Answered != nil {
		d.opts.Answered(ctx, q, answer)
	}
	return answer, nil
}

func (d *Door) callerMark(ctx context.Context) mark {
	return d.sealer.mark("caller", request.SessionID(ctx), request.Caller(ctx))
}

func (d *Door) callMark(call Call) mark {
	return d.sealer.mark("call", call.Tool, canonical(call.Arguments))
}

func (d *Door) questionMark(q Question) mark {
	return d.sealer.mark("question", string(q.Kind), q.Skill, q.Dir, q.Digest, q.Title, q.Detail, q.Grant, q.Covers)
}

// canonical returns JSON in a form that is equal for equal values: clients may
// write members in another order when they make a call again.
func canonical(raw json.RawMessage) string {
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber() // as floats large numbers would be equal to their neighbours
	var value any
	if decoder.Decode(&value) != nil {
		return string(raw)
	}
	encoded, _ := json.Marshal(value) // of what was JSON
	return string(encoded)
}
