package router

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/server/internal/client"
	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
)

// RouteHTTP has the library's handler of streamable HTTP serve a message whose
// body has been read.
func (rt *Router) RouteHTTP(library http.Handler, w http.ResponseWriter, r *http.Request, head jsonrpc.Message, body []byte) {
	if !head.IsRequest() {
		setBody(r, body)
		library.ServeHTTP(w, r)
		return
	}
	ctx, message, a := rt.admit(r.Context(), head, body)
	var end func()
	a.lasting, end = client.From(ctx).Begin(context.WithoutCancel(ctx), head.ID)
	defer end()
	disguise := r.WithContext(ctx)
	if a.run != nil && r.Header.Get(mcp.HeaderMethod) == head.Method {
		disguise.Header = r.Header.Clone()
		disguise.Header.Set(mcp.HeaderMethod, string(mcp.MethodResourcesList))
	}
	setBody(disguise, message)
	rewriter := &rewriter{ResponseWriter: w, answer: a,
		modern: mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))}
	library.ServeHTTP(rewriter, disguise)
	rewriter.writeStatus(rewriter.status)
}

func setBody(r *http.Request, body []byte) {
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
}

// rewriter rewrites the response among what the library writes. The library
// writes each message, JSON or event, in one call.
type rewriter struct {
	http.ResponseWriter
	answer *answer
	// modern says that the protocol version is one in which the HTTP status
	// follows the JSON-RPC error.
	modern  bool
	status  int
	written bool
}

// WriteHeader only notes the status, which the message may yet change.
func (w *rewriter) WriteHeader(status int) { w.status = status }

func (w *rewriter) writeStatus(status int) {
	if !w.written && status != 0 {
		w.ResponseWriter.WriteHeader(status)
		w.written = true
	}
}

func (w *rewriter) Write(p []byte) (int, error) {
	if !w.answer.changes() {
		w.writeStatus(w.status)
		return w.ResponseWriter.Write(p)
	}
	event := []byte("event: message\ndata: ")
	message, isEvent := bytes.CutPrefix(p, event)
	rewritten, invalid := w.answer.rewrite(bytes.TrimRight(message, "\n"))
	status := w.status
	if invalid && w.modern && !isEvent {
		status = http.StatusBadRequest
	}
	w.writeStatus(status)
	rewritten = append(rewritten, '\n')
	if isEvent {
		rewritten = slices.Concat(event, rewritten, []byte("\n"))
	}
	if _, err := w.ResponseWriter.Write(rewritten); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush implements [http.Flusher], without which the library would not
// stream.
func (w *rewriter) Flush() {
	w.writeStatus(w.status)
	if flusher, ok := w.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
}
