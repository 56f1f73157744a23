package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
)

// acknowledged makes sure that a request to listen is acknowledged before it
// ends, as MCP 2026-07-28 has it. Where a client asks only for what the server
// never tells, the library acknowledges and ends at once, and then the end may
// overtake the acknowledgement, which is lost. To be deleted when the library
// (as of v1.2.1) writes both in order.
func acknowledged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The library refuses a header that is not the message's method.
		if r.Header.Get(mcp.HeaderMethod) == string(mcp.MethodSubscriptionsListen) {
			w = &listenWriter{ResponseWriter: w}
		}
		next.ServeHTTP(w, r)
	})
}

// listenWriter writes the acknowledgement where the first event is the result
// already. The library writes each event in one call.
type listenWriter struct {
	http.ResponseWriter
	begun bool
}

func (w *listenWriter) Write(p []byte) (int, error) {
	if w.begun {
		return w.ResponseWriter.Write(p)
	}
	w.begun = true
	if _, err := w.ResponseWriter.Write(append(missingAcknowledgement(p), p...)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush implements [http.Flusher], without which the library would not
// stream.
func (w *listenWriter) Flush() {
	if flusher, ok := w.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
}

// missingAcknowledgement gives the event that should have come before the
// first one, or nothing. What ends at once listens for nothing.
func missingAcknowledgement(first []byte) []byte {
	const event = "event: message\ndata: "
	message, isEvent := bytes.CutPrefix(first, []byte(event))
	var response struct {
		ID     json.RawMessage `json:"id"`
		Result json.RawMessage `json:"result"`
	}
	if !isEvent || json.Unmarshal(message, &response) != nil || response.Result == nil {
		return nil
	}
	return fmt.Appendf(nil, `%s{"jsonrpc":"2.0","method":%q,"params":{"_meta":{%q:%s},"notifications":{}}}`+"\n\n",
		event, mcp.MethodNotificationSubscriptionsAcknowledged, mcp.MetaKeySubscriptionID, response.ID)
}
