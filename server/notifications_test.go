package server_test

import (
	"net/http"
	"testing"

	"github.com/skills-mcp/skills-mcp/testdata"
)

// TestHTTPNotifications: a notification is taken whether or not it states its
// version, unless it contradicts itself or names a session that is not there.
func TestHTTPNotifications(t *testing.T) {
	t.Parallel()
	url := newFixture(t, testdata.Valid()).serveHTTP(t) + "/mcp"
	session := legacy(t, url[:len(url)-len("/mcp")])
	version := []string{"MCP-Protocol-Version", "2026-07-28"}
	ended := []string{"Mcp-Session-Id", "mcp-session-nonsense"}
	for _, test := range []struct {
		name    string
		modern  bool // with _meta
		headers []string
		status  int
	}{
		{"nothing", false, nil, http.StatusAccepted},
		{"version header only", false, version, http.StatusAccepted},
		{"version and method header", false, modernHeaders("notifications/cancelled", ""), http.StatusAccepted},
		{"meta only", true, nil, http.StatusAccepted},
		{"meta and version header", true, version, http.StatusAccepted},
		{"meta and all headers", true, modernHeaders("notifications/cancelled", ""), http.StatusAccepted},
		{"session", false, session, http.StatusAccepted},
		{"session without version", false, session[:2], http.StatusAccepted},
		{"session and a modern version", false, append(session[:2:2], version...), http.StatusAccepted},
		{"no such session", false, ended, http.StatusNotFound},
		{"meta and another version header", true, []string{"MCP-Protocol-Version", "2025-11-25"}, http.StatusBadRequest},
		{"no such version", false, []string{"MCP-Protocol-Version", "1999-01-01"}, http.StatusBadRequest},
	} {
		for _, method := range []string{"notifications/cancelled", "notifications/roots/list_changed"} {
			params := map[string]any{"requestId": 1}
			if test.modern {
				params = modern(params)
			}
			message := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
			headers := test.headers
			if len(headers) == 4 && headers[2] == "Mcp-Method" {
				headers = modernHeaders(method, "")
			}
			response, body := post(t, url, message, headers...)
			if response.StatusCode != test.status || test.status == http.StatusAccepted && len(body) > 0 {
				t.Errorf("%s, %s: %s %s", test.name, method, response.Status, body)
			}
		}
	}
}
