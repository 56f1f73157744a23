package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
)

// asking knows the requests of the server that the client has not answered.
type asking struct {
	mu   sync.Mutex
	last int64
	open map[string]chan json.RawMessage // by the keys of their ids
}

// begin makes an id. Its answer comes over the channel, if it comes before end.
func (a *asking) begin() (id int64, answered <-chan json.RawMessage, end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == nil {
		a.open = map[string]chan json.RawMessage{}
	}
	a.last++
	key, answer := jsonrpc.Key(json.RawMessage(strconv.FormatInt(a.last, 10))), make(chan json.RawMessage, 1)
	a.open[key] = answer
	return a.last, answer, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.open, key)
	}
}

// take takes a response. The first to a request counts.
func (a *asking) take(id, response json.RawMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if answer := a.open[jsonrpc.Key(id)]; answer != nil {
		delete(a.open, jsonrpc.Key(id))
		answer <- response
	}
}

// Elicit asks the client to ask its user, and waits until it answers or ctx
// ends. It implements [mcpserver.ElicitationHandler].
func (s *Session) Elicit(ctx context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	answer, err := s.ask(ctx, string(mcp.MethodElicitationCreate), request.Params)
	return decoded[mcp.ElicitationResult](answer, err)
}

// ListRoots asks the client for its roots, and waits until it answers, or ctx or
// the session ends. It implements [mcpserver.RootsHandler].
func (s *Session) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	answer, err := s.ask(ctx, string(mcp.MethodListRoots), nil)
	return decoded[mcp.ListRootsResult](answer, err)
}

// decoded returns a client's result, or the error that came instead.
func decoded[T any](answer json.RawMessage, err error) (result *T, _ error) {
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(answer, &result); err != nil || result == nil {
		return nil, errors.Join(errNoResult, err)
	}
	return result, nil
}

var errNoResult = errors.New("the client's response has no result that can be read")

// ask sends the client a request and returns the result. Where ctx ends before,
// the client hears that nobody waits for it any more.
func (s *Session) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	id, answered, end := s.asking.begin()
	defer end()
	request := mcp.JSONRPCRequest{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(id), Request: mcp.Request{Method: method}, Params: params}
	if err := s.send(request); err != nil {
		return nil, err
	}
	select {
	case response := <-answered:
		return result(response)
	case <-ctx.Done():
	}
	canceled := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	canceled.Method = string(mcp.MethodNotificationCancelled)
	canceled.Params.AdditionalFields = map[string]any{"requestId": id}
	_ = s.send(canceled) // it is only told
	return nil, ctx.Err()
}

// result returns that of a response, or its error.
func result(response json.RawMessage) (json.RawMessage, error) {
	var fields struct {
		Result json.RawMessage
		Error  *struct {
			Code    int
			Message string
		}
	}
	switch err := json.Unmarshal(response, &fields); {
	case err != nil:
		return nil, err
	case fields.Error != nil:
		return nil, fmt.Errorf("the client answered with error %d: %s", fields.Error.Code, fields.Error.Message)
	case fields.Result == nil:
		return nil, errNoResult
	}
	return fields.Result, nil
}
