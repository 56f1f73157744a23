package consent

import (
	"context"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
)

// modern reports whether a request is of protocol version 2026-07-28 or later,
// in which a server asks by the result of a call.
func modern(ctx context.Context) bool {
	return mcp.IsModernProtocol(mcpserver.RequestProtocolVersion(ctx))
}

// canAsk reports whether the client of a request says that it can show forms. In
// the modern era only what the request itself says counts.
func canAsk(ctx context.Context) bool {
	var capabilities mcp.ClientCapabilities
	session := mcpserver.ClientSessionFromContext(ctx)
	switch info := mcpserver.RequestProtocolInfoFromContext(ctx); {
	case modern(ctx):
		if info == nil || info.ClientCapabilities == nil {
			return false
		}
		capabilities = *info.ClientCapabilities
	default:
		informed, ok := session.(mcpserver.SessionWithClientInfo)
		if _, asks := session.(mcpserver.SessionWithElicitation); !ok || !asks {
			return false
		}
		capabilities = informed.GetClientCapabilities()
	}
	elicitation := capabilities.Elicitation
	// Before there were modes, an empty capability meant forms, and still does.
	return elicitation != nil && (elicitation.Form != nil || elicitation.URL == nil)
}

// inputRequired is the result that asks the client.
func (d *Door) inputRequired(ctx context.Context, call Call, p *pending) *mcp.CallToolResult {
	now := d.opts.Now()
	caller, expires := d.callerMark(ctx), now.Add(lifetime)
	state := d.sealer.seal(state{
		nonce: d.outstanding.issue(caller, now, expires), expires: expires.Unix(),
		caller: caller, call: d.callMark(call), asked: p.asked, granted: p.granted,
	})
	return mcpserver.NewInputRequestBuilder(state).Elicit(responseID, form(p.question, p.choices)).ToolResult()
}

// elicit asks a client of an earlier protocol version and waits for its answer:
// nothing but a little memory is held meanwhile.
func (d *Door) elicit(ctx context.Context, p *pending) (*mcp.ElicitationResult, error) {
	defer request.Idle(ctx)()
	return d.await(ctx, p.question, p.choices, lifetime)
}

// await asks a client of an earlier protocol version and waits so long for its
// answer.
//
// The library would do the same for an input_required result, but without a
// bound, and what goes wrong would be an error of the protocol that no model
// sees.
func (d *Door) await(ctx context.Context, q Question, choices []string, wait time.Duration) (*mcp.ElicitationResult, error) {
	leave, ok := d.waiting.enter(request.Caller(ctx))
	if !ok {
		return nil, failure.New(failure.ConsentBusy, "Wait until some of them are answered.", "too many questions wait for an answer of the user")
	}
	defer leave()
	bounded, cancel := context.WithTimeoutCause(ctx, wait, errUnanswered)
	defer cancel()
	result, err := mcpserver.ServerFromContext(ctx).RequestElicitation(bounded, mcp.ElicitationRequest{
		Request: mcp.Request{Method: string(mcp.MethodElicitationCreate)},
		Params:  form(q, choices),
	})
	switch {
	case err == nil && result != nil:
		return result, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(context.Cause(bounded), errUnanswered):
		return nil, failure.New(failure.ConsentExpired, "Tell the user what was asked, and go on when they want to be asked again.",
			"the user did not answer within %v", wait.Round(time.Second))
	}
	d.opts.Logger.Warn("a client that says it can ask its user did not", "error", err)
	return nil, failure.New(failure.ConsentUnavailable, "Tell the user, who can answer in another client or at a terminal, or change the server's approval settings.",
		"the client says that it can ask the user, but did not")
}

var errUnanswered = errors.New("the user did not answer in time")
