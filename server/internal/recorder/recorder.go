// Package recorder records in the audit log what clients ask for and what comes
// of it, at the door: what serves a request only adds by [request.Note] what it
// alone knows.
//
// Nothing is done or answered that is not recorded, unless the log is one that
// lets failures pass. What has effects is recorded before it begins, and again
// at its end; of what has none, only the answer is withheld.
package recorder

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
)

// Recorder records requests. Its zero value records nothing. It is safe for use
// by several goroutines.
type Recorder struct {
	Log *audit.Log
	// Seen, if set, is called with the record of each request, whether there is a
	// log or none.
	Seen func(audit.Record)
}

// Request is what a client asks for.
type Request struct {
	Event  audit.Event
	Method string
	// Tool is the tool that is called, if any.
	Tool string
	// Skill is the one that it is known to be about; otherwise Input may name it.
	Skill string
	// Input is an object of the client's, as it came.
	Input json.RawMessage
	// Effects is set where more may come of it than an answer.
	Effects bool
}

// Record has a request served, and records it. The answer and the error are those
// of serve, or there is no answer, and the error says to the client that it could
// not be recorded.
func Record[T any](ctx context.Context, r Recorder, asked Request, serve func(context.Context) (T, error)) (none T, _ error) {
	if r.Log == nil && r.Seen == nil {
		return serve(ctx)
	}
	began := time.Now()
	record := audit.Record{
		Time: began, Event: asked.Event, Method: asked.Method, Tool: asked.Tool, Input: asked.Input,
		Session: sessionName(request.SessionID(ctx)), Caller: callerName(request.Sender(ctx)),
	}
	end, err := r.begin(record, asked)
	if err != nil {
		return none, notBegun(err)
	}
	ctx, recorded := request.WithRecord(ctx, record)
	answer, err := serve(ctx)
	record = recorded()
	record.DurationMs = float64(time.Since(began).Microseconds()) / 1000
	conclude(&record, err)
	recordErr := end(record)
	if r.Seen != nil {
		r.Seen(record)
	}
	if recordErr != nil {
		return none, withheld(record, asked.Effects, recordErr)
	}
	return answer, err
}

// begin records that something with effects begins, and returns what records the
// end.
func (r Recorder) begin(record audit.Record, asked Request) (end func(audit.Record) error, err error) {
	switch {
	case r.Log == nil:
		return func(audit.Record) error { return nil }, nil
	case !asked.Effects:
		return r.Log.Append, nil
	}
	record.Skill = cmp.Or(asked.Skill, named(asked.Input)) // it is not known yet whether there is one
	entry, err := r.Log.Begin(record)
	if err != nil {
		return nil, err
	}
	return entry.End, nil
}

// Answered records an answer of a user to a question, as the record has it. One
// that cannot be recorded is in the log of the server; the call that it is about
// cannot be recorded either then.
func (r Recorder) Answered(ctx context.Context, record audit.Record) {
	if r.Log == nil {
		return
	}
	record.Event = audit.Answer
	record.Session, record.Caller = sessionName(request.SessionID(ctx)), callerName(request.Sender(ctx))
	_ = r.Log.Append(record) // which logs it
}

// conclude says in a record how it went, by the error that the client gets and
// by what was noted.
func conclude(record *audit.Record, err error) {
	if err != nil {
		record.Error = string(failure.Of(err).Code)
	}
	switch {
	case record.Outcome != "":
	case record.Decision == decisionDeny, record.Error == string(failure.PermissionDenied):
		record.Outcome = audit.Denied
	case record.Error != "":
		record.Outcome = audit.Failed
	default:
		record.Outcome = audit.OK
	}
}

const decisionDeny = "deny"

// named returns the skill that a call names, or nothing.
func named(input json.RawMessage) string {
	var arguments struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(input, &arguments) // which is refused later
	return arguments.Name
}

// sessionName returns a name of a session. Its id, where it is no well-known
// one, lets its reader in.
func sessionName(id string) string {
	if id == "" || id == "stdio" {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:6])
}

// callerName returns the address of a sender, without what else tells senders
// apart.
func callerName(sender string) string {
	address, _, _ := strings.Cut(sender, " ")
	return address
}

// notBegun is the failure of what was not done since it could not be recorded.
func notBegun(err error) *failure.Failure {
	return &failure.Failure{
		Code: failure.AuditFailed, Message: "nothing was done, since it cannot be recorded in the audit log: " + reason(err),
		Hint: hint, Cause: err,
	}
}

// withheld is the failure of what was done and could not be recorded.
func withheld(record audit.Record, effects bool, err error) *failure.Failure {
	message := "the answer is withheld, since it cannot be recorded in the audit log: " + reason(err)
	if effects {
		message = "it was carried out (" + string(record.Outcome) + "), but its result is withheld, since it cannot be recorded in the audit log: " + reason(err)
	}
	return &failure.Failure{Code: failure.AuditFailed, Message: message, Hint: hint, Cause: err}
}

const hint = "Tell the user, who can make the audit log writable again, such as by freeing disk space, or start the server with --audit=DIR or --audit=off."

// reason returns why something could not be recorded, without paths.
func reason(err error) string {
	if failed, ok := errors.AsType[*audit.Error](err); ok {
		return failed.Reason()
	}
	return "the server's log says why"
}
