// Package router stands in front of the MCP library on every transport, for
// what the library cannot do: serve methods that it does not know, and let a
// handler choose its error's code and data.
//
// Every request but a plain reading ([PlainRead]) still goes through the library, which so applies all its rules
// (session, headers, version, cancellation, tracing) by itself. A method that
// it does not know goes through as resources/list, whose hook calls [Served];
// only the answer is changed on its way out. The package is to be deleted when
// the library grows custom request handlers.
package router

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
)

// Method serves a method that the library does not know. It returns the fields
// of the result.
type Method func(ctx context.Context, params json.RawMessage) (any, error)

// Router routes requests to the library and to methods of ours.
type Router struct {
	Library *mcpserver.MCPServer
	Methods map[string]Method
	Read    Read
	Log     *slog.Logger
}

// answer carries the outcome of a request past the library.
type answer struct {
	head jsonrpc.Message
	run  Method // nil for a method of the library
	// lasting ends with the request, or nil: where it is canceled, the library
	// writes the answer all the same.
	lasting context.Context
	// restored says that the library would answer another id.
	restored bool

	mu      sync.Mutex
	failure *failure.Failure
	result  json.RawMessage
}

type answerKey struct{}

// answerFrom returns the request's answer; where the router is not in front, as
// for a call in-process, one that is not read.
func answerFrom(ctx context.Context) *answer {
	if a, ok := ctx.Value(answerKey{}).(*answer); ok {
		return a
	}
	return &answer{}
}

// changes reports whether the library's response is not what the client gets.
func (a *answer) changes() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failure != nil || a.run != nil || a.restored
}

// Fail has a request answered with a failure, whatever the library answers.
func Fail(ctx context.Context, f *failure.Failure) { answerFrom(ctx).fail(f) }

func (a *answer) fail(f *failure.Failure) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failure = f
}

// admit takes a request and returns the message that the library is to see,
// with the context that leads back to the answer.
func (rt *Router) admit(ctx context.Context, head jsonrpc.Message, message json.RawMessage) (context.Context, json.RawMessage, *answer) {
	a := &answer{head: head, run: rt.Methods[head.Method], restored: !bytes.Equal(libraryID(head.ID), head.ID)}
	if a.run != nil {
		message = disguised(message)
	}
	return context.WithValue(ctx, answerKey{}, a), message, a
}

// libraryID returns an id as the library writes it, which keeps numbers as
// floats.
func libraryID(id json.RawMessage) json.RawMessage {
	var value any
	if json.Unmarshal(id, &value) != nil {
		return id
	}
	written, _ := json.Marshal(value) // of what was JSON
	return written
}

// disguised makes a request of resources/list with the same id and _meta.
// Params that are no object stay, for the library to refuse.
func disguised(message json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(message, &fields) != nil {
		return message
	}
	fields["method"] = json.RawMessage(`"` + mcp.MethodResourcesList + `"`)
	var params map[string]json.RawMessage
	if json.Unmarshal(fields["params"], &params) == nil && params != nil {
		kept := map[string]json.RawMessage{}
		if meta, ok := params["_meta"]; ok {
			kept["_meta"] = meta
		}
		fields["params"], _ = json.Marshal(kept)
	}
	encoded, _ := json.Marshal(fields) // of parts that were JSON
	return encoded
}

// Served serves a disguised request once the library has let it in, and
// reports whether the request was one.
func Served(ctx context.Context) bool {
	a := answerFrom(ctx)
	if a.run == nil {
		return false
	}
	result, err := a.run(ctx, a.head.Params)
	var encoded []byte
	if err == nil {
		encoded, err = json.Marshal(result)
	}
	if err != nil {
		a.fail(failure.Of(err))
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.result = encoded
	return true
}

// rewrite puts the outcome into a response of the library. invalid reports
// whether the outcome is an error that blames the request.
func (a *answer) rewrite(message []byte) (rewritten []byte, invalid bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var response map[string]json.RawMessage
	if json.Unmarshal(message, &response) != nil || response["method"] != nil || response["id"] == nil {
		return message, false
	}
	switch {
	case a.failure != nil:
		invalid = !a.failure.Ours()
		delete(response, "result")
		response["error"], _ = json.Marshal(a.failure.RPCError())
	case a.result != nil:
		response["result"] = a.merged(response["result"])
	case a.run != nil:
		// Refused by a rule: the text may name the method of the disguise.
		response["error"] = bytes.ReplaceAll(response["error"], []byte(mcp.MethodResourcesList), []byte(a.head.Method))
	}
	if a.restored {
		response["id"] = a.head.ID
	}
	encoded, err := json.Marshal(response)
	if err != nil {
		return message, false
	}
	return encoded, invalid
}

// merged puts our result's fields in the place of those of resources/list,
// and keeps what the library adds. The hints for caches stay on directories
// too: SEP-2640 does not ask for them there, but official clients do.
func (a *answer) merged(library json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(library, &fields)
	delete(fields, "resources")
	delete(fields, "nextCursor")
	_ = json.Unmarshal(a.result, &fields) // which keeps the others
	whole, _ := json.Marshal(fields)      // of parts that were JSON
	return whole
}

// Route answers a request that did not come over HTTP.
func (rt *Router) Route(ctx context.Context, head jsonrpc.Message, message json.RawMessage) []byte {
	err := ctx.Err()
	if err == nil {
		var response []byte
		if response, err = rt.route(ctx, head, message); err == nil {
			return response
		}
		rt.Log.Error("request failed", "method", head.Method, "error", err)
	}
	return Refusal(head, failure.Of(err))
}

func (rt *Router) route(ctx context.Context, head jsonrpc.Message, message json.RawMessage) ([]byte, error) {
	ctx, message, a := rt.admit(ctx, head, message)
	response, err := rt.handle(ctx, message)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(response)
	if err == nil && a.changes() {
		encoded, _ = a.rewrite(encoded)
	}
	return encoded, err
}

// Forward passes on what needs no answer.
func (rt *Router) Forward(ctx context.Context, message json.RawMessage) {
	_, _ = rt.handle(ctx, message)
}

func (rt *Router) handle(ctx context.Context, message json.RawMessage) (response mcp.JSONRPCMessage, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			rt.Log.Error("message panicked", "panic", cause, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	return rt.Library.HandleMessage(ctx, message), nil
}

// Refusal is the answer to a request that the library has no part in.
func Refusal(head jsonrpc.Message, f *failure.Failure) []byte {
	answer := map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": head.ID}
	if head.Method == string(mcp.MethodToolsCall) {
		// Required from protocol version 2026-07-28 on, ignored before.
		answer["result"] = map[string]any{"resultType": mcp.ResultTypeComplete, "content": f.ToolResult().Content, "isError": true}
	} else {
		answer["error"] = f.RPCError()
	}
	encoded, _ := json.Marshal(answer) // of texts, and of what was JSON
	return encoded
}
