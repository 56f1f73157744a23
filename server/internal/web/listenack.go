package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
)

// listenWriter makes sure that a request to listen is acknowledged before it
// ends, as MCP 2026-07-28 has it. Where a client asks only for what the server
// never tells, the library acknowledges and ends at once, and then the end may
// overtake the acknowledgement, which is lost. So it writes the acknowledgement
// where the first event is the result already. The library writes each event in
// one call. To be deleted when the library (as of v1.2.1) writes both in order.
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

// Unwrap is for [http.ResponseController].
func (w *listenWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

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
