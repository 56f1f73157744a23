package integration

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// With one run at a time, the second call waits, its client is told so, and
// it runs once the first has ended.
func TestRunsQueue(t *testing.T) {
	root := t.TempDir()
	writeSkill(t, root, "open", "Anything may be run.")
	w := dial(t, program.Home(t), "--sandbox=unsafe-host", "--max-runs=1", root)
	w.handshake(t)
	long := w.exec(t, "long", "echo begun; sleep 600")
	if got := w.progress(t, "long"); got != "begun" {
		t.Errorf("the first run tells %q", got)
	}
	short := w.exec(t, "short", "echo done")
	if got := w.progress(t, "short"); got != "waiting for a run to end: next in the queue" {
		t.Errorf("the waiting call is told %q", got)
	}
	w.send(t, map[string]any{"method": "notifications/cancelled", "params": map[string]any{"requestId": long}})
	answer := w.messages.take(t, "the answer of the run that waited", func(m message) bool {
		return m.Method == "" && m.ID != nil && *m.ID == short
	})
	if !strings.Contains(string(answer.Result), "exit code 0") {
		t.Errorf("it ended with %s", answer.raw)
	}
}

// exec asks for a run whose progress is told under a token.
func (w *wire) exec(t *testing.T, token, command string) (id int) {
	t.Helper()
	return w.request(t, "tools/call", map[string]any{
		"name":      "exec",
		"arguments": map[string]any{"name": "open", "command": command},
		"_meta":     map[string]any{"progressToken": token},
	})
}

// progress returns the next line of progress under a token, but for what tells on a
// busy machine that a program has said nothing yet.
func (w *wire) progress(t *testing.T, token string) string {
	t.Helper()
	var params struct{ ProgressToken, Message string }
	w.messages.take(t, "progress of "+token, func(m message) bool {
		return m.Method == "notifications/progress" && json.Unmarshal(m.Params, &params) == nil && params.ProgressToken == token &&
			!strings.HasPrefix(params.Message, "still at work")
	})
	return params.Message
}
