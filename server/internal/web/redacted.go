package web

import (
	"net/http"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/redact"
)

// redacted takes the values of secrets out of all bodies.
func redacted(set *redact.Set, next http.Handler) http.Handler {
	if set == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(redactedResponse{w, set}, r)
	})
}

// redactedResponse is a response of which each message, JSON or event, is written
// in one call, as all of them are.
type redactedResponse struct {
	http.ResponseWriter
	set *redact.Set
}

// Unwrap is for [http.ResponseController].
func (w redactedResponse) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements [http.Flusher].
func (w redactedResponse) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Write implements [http.ResponseWriter].
func (w redactedResponse) Write(p []byte) (int, error) {
	clean := w.set.Bytes
	if kind := w.Header().Get("Content-Type"); strings.HasPrefix(kind, "application/json") || strings.HasPrefix(kind, "text/event-stream") {
		clean = w.set.JSON
	}
	if _, err := w.ResponseWriter.Write(clean(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
