package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
)

// The router stands in front of the library on every transport, for what the
// library cannot do: serve methods that it does not know, and let a handler
// choose its error's code and data. Every request still goes through the
// library, which so applies all its rules (session, headers, version,
// cancellation, tracing) by itself. A method that it does not know goes through
// as resources/list, whose hook does the work; only the answer is changed on
// its way out. This file is to be deleted when the library grows custom request
// handlers.

// answer carries the outcome of a request past the library.
type answer struct {
	method string
	id     json.RawMessage // as the client wrote it
	// lasting ends with the request, or nil: where it is canceled, the library
	// writes the answer all the same.
	lasting context.Context
	// restored tells that the library would answer another id.
	restored bool
	run      func(context.Context) (any, error) // nil for a method of the library

	mu      sync.Mutex
	failure *failure.Failure
	result  any
}

type answerKey struct{}

// answerFrom returns the request's answer; where the router is not in front, as
// for a call in-process, one that nobody reads.
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

func (a *answer) fail(f *failure.Failure) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failure = f
}

// admit takes a request and gives the message that the library is to
// see, with the context that leads back to the answer.
func (s *Server) admit(ctx context.Context, head jsonrpc.Message, message json.RawMessage) (context.Context, json.RawMessage, *answer) {
	a := &answer{method: head.Method, id: head.ID}
	a.restored = head.ID[0] != '"' && !bytes.Equal(jsonrpc.LibraryID(head.ID), head.ID)
	ctx = context.WithValue(ctx, answerKey{}, a)
	serve, ok := extensionMethods[head.Method]
	if !ok {
		return ctx, message, a
	}
	a.run = func(ctx context.Context) (any, error) { return serve(s, ctx, head.Params) }
	return ctx, disguised(message), a
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
	encoded, err := json.Marshal(fields)
	if err != nil {
		return message
	}
	return encoded
}

// hookRouter does the work of a disguised request once the library has let it
// in. It reports whether the request was one.
func (s *Server) hookRouter(ctx context.Context) bool {
	a := answerFrom(ctx)
	if a.run == nil {
		return false
	}
	result, err := a.run(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.failure = failure.Of(err)
		s.logFailure(a.method, a.failure)
		return true
	}
	a.result = result
	return true
}

// mend puts the outcome into a response of the library. invalid tells that
// the outcome is an error that blames the request.
func (a *answer) mend(message []byte) (mended []byte, invalid bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var head jsonrpc.Message
	if json.Unmarshal(message, &head) != nil || !head.IsResponse() {
		return message, false
	}
	var response map[string]json.RawMessage
	if json.Unmarshal(message, &response) != nil {
		return message, false
	}
	switch {
	case a.failure != nil:
		invalid = a.failure.Code != failure.Internal
		delete(response, "result")
		response["error"], _ = json.Marshal(a.failure.RPCError())
	case a.result != nil:
		response["result"] = a.merged(response["result"])
	case a.run != nil:
		// Refused by a rule: the text may name the method of the disguise.
		response["error"] = bytes.ReplaceAll(response["error"], []byte(mcp.MethodResourcesList), []byte(a.method))
	}
	if a.restored {
		response["id"] = a.id
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
	var fields, ours map[string]json.RawMessage
	_ = json.Unmarshal(library, &fields)
	encoded, err := json.Marshal(a.result)
	if err != nil || json.Unmarshal(encoded, &ours) != nil {
		return library
	}
	delete(fields, "resources")
	delete(fields, "nextCursor")
	for key, value := range ours {
		fields[key] = value
	}
	whole, err := json.Marshal(fields)
	if err != nil {
		return library
	}
	return whole
}

// route serves one request that did not come over HTTP.
func (s *Server) route(ctx context.Context, head jsonrpc.Message, message json.RawMessage) (_ []byte, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			s.log.Error("request panicked", "method", head.Method, "panic", cause, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	ctx, message, a := s.admit(ctx, head, message)
	// As it was written, since the library would round a large number.
	id := mcp.NewRequestId(head.ID)
	response := s.mcp.HandleMessage(ctx, message)
	switch r := response.(type) {
	case mcp.JSONRPCResponse:
		r.ID = id
		response = r
	case mcp.JSONRPCError:
		r.ID = id
		response = r
	}
	encoded, err := json.Marshal(response)
	if err != nil {
		return nil, err
	}
	if !a.changes() {
		return encoded, nil
	}
	mended, _ := a.mend(encoded)
	return mended, nil
}

// routed returns what serves a message over HTTP.
func (s *Server) routed(library http.Handler) func(w http.ResponseWriter, r *http.Request, head jsonrpc.Message, body []byte) {
	return func(w http.ResponseWriter, r *http.Request, head jsonrpc.Message, body []byte) {
		if !head.IsRequest() {
			if head.Method == string(mcp.MethodNotificationCancelled) && s.running.Cancel(r.Context(), head.Params) {
				setBody(r, []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`))
			}
			library.ServeHTTP(w, r)
			return
		}
		ctx, message, a := s.admit(request.WithSender(r.Context(), sender(r)), head, body)
		var end func()
		a.lasting, end = s.running.Begin(r.Context(), head.ID)
		defer end()
		disguise := r.Clone(ctx)
		if a.run != nil && r.Header.Get(mcp.HeaderMethod) == head.Method {
			disguise.Header.Set(mcp.HeaderMethod, string(mcp.MethodResourcesList))
		}
		setBody(disguise, message)
		mender := &mendingWriter{ResponseWriter: w, answer: a,
			modern: mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))}
		library.ServeHTTP(mender, disguise)
		mender.writeStatus(mender.status)
	}
}

// sender names who sent an HTTP request, as far as that is known: the address,
// and the credentials for what stands before the server.
func sender(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return fmt.Sprintf("%s %x", host, sha256.Sum256([]byte(r.Header.Get("Authorization"))))
}

// mendingWriter mends the response among what the library writes. The library
// writes each message, JSON or event, in one call.
type mendingWriter struct {
	http.ResponseWriter
	answer *answer
	// modern tells of a protocol version in which the HTTP status follows
	// the JSON-RPC error.
	modern  bool
	status  int
	written bool
}

// WriteHeader only notes the status, which the message may yet change.
func (w *mendingWriter) WriteHeader(status int) { w.status = status }

func (w *mendingWriter) writeStatus(status int) {
	if !w.written && status != 0 {
		w.ResponseWriter.WriteHeader(status)
		w.written = true
	}
}

func (w *mendingWriter) Write(p []byte) (int, error) {
	if !w.answer.changes() {
		w.writeStatus(w.status)
		return w.ResponseWriter.Write(p)
	}
	const field = "data: "
	before, message, isEvent := bytes.Cut(p, []byte(field))
	if !isEvent || !bytes.HasPrefix(p, []byte("event: ")) {
		before, message, isEvent = nil, p, false
	}
	mended, invalid := w.answer.mend(bytes.TrimRight(message, "\n"))
	status := w.status
	if invalid && w.modern && !isEvent {
		status = http.StatusBadRequest
	}
	w.writeStatus(status)
	out := append([]byte(nil), before...)
	if isEvent {
		out = append(append(append(out, field...), mended...), "\n\n"...)
	} else {
		out = append(append(out, mended...), '\n')
	}
	if _, err := w.ResponseWriter.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush implements [http.Flusher], without which the library would not
// stream.
func (w *mendingWriter) Flush() {
	w.writeStatus(w.status)
	if flusher, ok := w.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
}

// unreadable is the failure of a request whose parameters have a wrong type,
// or nil for another error of the library, whose text would name Go's types.
func unreadable(method string, err error) *failure.Failure {
	var unparsable *mcpserver.UnparsableMessageError
	if !errors.As(err, &unparsable) {
		return nil
	}
	const hint = "Send the parameters as the protocol's specification has them."
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) || wrong.Field == "" {
		return failure.New(failure.InvalidArguments, hint, "the parameters of %s cannot be read", display.Clip(method, 80))
	}
	// The names of embedded structs are among those of the fields.
	path := slices.DeleteFunc(strings.Split(wrong.Field, "."), func(name string) bool {
		return name == "" || name[0] >= 'A' && name[0] <= 'Z'
	})
	kind, _, _ := strings.Cut(wrong.Value, " ")
	return failure.New(failure.InvalidArguments, hint, "%s of %s has a wrong type: %s", strings.Join(path, "."), display.Clip(method, 80), kind)
}
