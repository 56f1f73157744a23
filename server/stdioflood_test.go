package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/queue"
)

// queueFixture is noteFixture with room for one run at a time.
func queueFixture(t *testing.T) *fixture {
	t.Helper()
	needBash(t)
	root := noteFixture(t).root
	return newFixtureWith(t, root, func(plain sandbox.Backend) sandbox.Backend {
		return queue.New(plain, queue.Options{Running: 1})
	})
}

// startHang starts a program that does not end by itself, and waits until it
// runs. It returns the call's id.
func (c *client) startHang(t *testing.T) (id int) {
	t.Helper()
	c.startExec(t, "hang", map[string]any{"script": "hang.sh"})
	c.fixture.awaitProcesses(t, "hang", true)
	return c.last
}

func (c *client) cancel(t *testing.T, id int) {
	t.Helper()
	c.send(t, map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id}})
}

// answered reports how many answers came to a request.
func (c *client) answered(id int) (answers int) {
	for line := range strings.Lines(c.transcript()) {
		var r reply
		if json.Unmarshal([]byte(line), &r) == nil && string(r.ID) == fmt.Sprint(id) {
			answers++
		}
	}
	return answers
}

// TestStdioQueuedCallCanceled: calls that are canceled before their turn never
// run, and are not answered.
func TestStdioQueuedCallCanceled(t *testing.T) {
	t.Parallel()
	f := queueFixture(t)
	c := f.connect(t)
	first := c.startHang(t)
	var ids []int
	for i := range 60 {
		c.startExec(t, "note", map[string]any{"command": fmt.Sprintf("touch ran-%d", i)})
		ids = append(ids, c.last)
	}
	for _, id := range append(ids, first) {
		c.cancel(t, id)
	}
	if run := c.exec(t, "note", map[string]any{"command": "ls"}); run.Stdout != "" {
		t.Errorf("canceled calls have run: %q", run.Stdout)
	}
	c.ask(t, "ping", nil)
	for _, id := range append(ids, first) {
		if answers := c.answered(id); answers > 0 {
			t.Errorf("call %d was canceled, and has %d answers", id, answers)
		}
	}
}

// TestStdioManyCalls: however many calls wait, the client is heard, and what
// needs no program is answered. What is over the bound is refused.
func TestStdioManyCalls(t *testing.T) {
	f := queueFixture(t)
	input, output, served := f.serve(t.Context())
	c := &client{fixture: f, input: input, read: make(chan struct{}), waiting: map[string]chan reply{}}
	go c.listen(output)
	c.startHang(t)
	const most, over = 1024, 60
	var waiting []<-chan reply
	for range most - 1 {
		c.startExec(t, "note", map[string]any{"command": "touch ran"})
	}
	for range over {
		waiting = append(waiting, c.startExec(t, "note", map[string]any{"command": "touch ran"}))
	}
	for i, answer := range waiting {
		if a := decodeAnswer(t, "exec", c.await(t, answer, "a call over the bound")); a.code() != "sandbox_busy" {
			t.Fatalf("call %d over the bound: %s", i, a.text())
		}
	}
	for _, method := range []string{"ping", "skills/list", "tools/list", "prompts/list"} {
		if r := c.ask(t, method, nil); r.Error != nil {
			t.Errorf("%s while calls wait: %+v", method, *r.Error)
		}
	}
	c.cancel(t, most/2) // so there is room when it has ended
	for deadline := time.Now().Add(patience); c.call(t, "activate", map[string]any{"name": "note"}).code() == "sandbox_busy"; {
		if time.Now().After(deadline) {
			t.Fatal("a canceled call keeps its place")
		}
	}
	input.Close()
	select {
	case <-served: // with an error where a slow machine did not answer them all in time
	case <-time.After(patience):
		t.Fatal("serving does not end")
	}
	f.awaitProcesses(t, "hang", false)
}

// TestStdioFullRunsKeepNobody: while many calls wait for a run to end, others
// are answered.
func TestStdioFullRunsKeepNobody(t *testing.T) {
	t.Parallel()
	f := queueFixture(t)
	c := f.connect(t)
	ids := []int{c.startHang(t)}
	for range 200 {
		c.startExec(t, "note", map[string]any{"command": "true"})
		ids = append(ids, c.last)
	}
	if a := c.call(t, "activate", map[string]any{"name": "note"}); a.IsError {
		t.Errorf("activate: %s", a.text())
	}
	if a := c.call(t, "activate", map[string]any{"name": "hang"}); a.IsError { // whose script is looked at
		t.Errorf("activate: %s", a.text())
	}
	for _, id := range slices.Backward(ids) {
		c.cancel(t, id)
	}
	f.awaitProcesses(t, "hang", false)
}

// TestStdioReadsNothing: a client that sends and never reads stalls neither
// the reader nor the end.
func TestStdioReadsNothing(t *testing.T) {
	t.Parallel() // it takes as long as such a client is waited for
	f := noteFixture(t)
	input, output, served := f.serve(t.Context())
	defer output.Close()
	for id := range 6000 {
		method := []string{"tools/list", "skills/list", "ping"}[id%3]
		if _, err := fmt.Fprintf(input, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{}}`+"\n", id, method); err != nil {
			t.Fatalf("line %d: %v", id, err)
		}
	}
	input.Close()
	if err := f.awaitEnd(t, served); err == nil {
		t.Error("serving ended as if all had been answered")
	}
}

// TestStdioNeverReads: one that goes on sending is not served for ever.
func TestStdioNeverReads(t *testing.T) {
	f := noteFixture(t)
	input, output, served := f.serve(t.Context())
	defer output.Close()
	garbage := strings.Repeat("x", 1000) + "\n"
	go func() {
		for {
			if _, err := io.WriteString(input, garbage); err != nil {
				return
			}
		}
	}()
	if err := f.awaitEnd(t, served); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("serving ended with %v", err)
	}
	input.Close()
}

// TestStdioMalformed: what is no message is refused, once, and an id comes
// back as it was written.
func TestStdioMalformed(t *testing.T) {
	t.Parallel()
	f := noteFixture(t)
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1e999,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`,
		`{"jsonrpc":"2.0","id":[],"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":true,"method":"skills/list"}`,
		`{"jsonrpc":"2.0","ID":1,"Method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"skills/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"skills/list","param` + "\u017f" + `":{"cursor":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"method":5}`,
		`{"jsonrpc":"2.0","id":1}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
		`null`,
	} {
		replies := f.serveInput(t, line+"\n")
		if r := one(t, replies, "null"); len(replies) != 1 || r.Error == nil || r.Error.Code != -32600 {
			t.Errorf("%s: %+v", line, replies)
		}
	}
	for _, id := range []string{`12345678901234567890123`, `1.50`, `"é\u0000"`, `""`, `-0`} {
		for _, method := range []string{"ping", "skills/list", "no/such"} {
			one(t, f.serveInput(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q}`+"\n", id, method)), id)
		}
	}
	for _, silent := range []string{
		`{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}`,
		`{"jsonrpc":"1.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`,
		`{"jsonrpc":"2.0","id":7,"result":{}}`,
		`{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}`,
	} {
		if replies := f.serveInput(t, silent+"\n"); len(replies) != 0 {
			t.Errorf("%s was answered: %+v", silent, replies)
		}
	}
}

// TestUnreadableParams: parameters of a wrong type are refused in words of the
// protocol, not of Go, on every transport.
func TestUnreadableParams(t *testing.T) {
	t.Parallel()
	f := noteFixture(t)
	url := f.serveHTTP(t) + "/mcp"
	for _, method := range []string{
		"initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read",
		"resources/subscribe", "resources/unsubscribe", "resources/directory/read", "prompts/list", "prompts/get",
		"completion/complete", "skills/list", "skills/get", "logging/setLevel", "server/discover", "subscriptions/listen",
	} {
		for _, params := range []string{
			`5`, `"x"`, `[1]`, `{"name":5,"uri":5,"cursor":{},"ref":7,"argument":7,"level":7,"protocolVersion":7,"notifications":7}`,
			`{"name":"note","uri":[],"arguments":7,"ref":{"type":7},"capabilities":[],"clientInfo":"x","protocolVersion":"2025-11-25"}`,
			`{"_meta":7}`, `{"_meta":{"progressToken":{}}}`, `{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}`,
			`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":5,"io.modelcontextprotocol/clientCapabilities":5},"name":5,"uri":5,"cursor":5,"notifications":5}`,
		} {
			line := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
			_, overHTTP := post(t, url, []byte(line))
			_, modernHTTP := post(t, url, []byte(line), modernHeaders(method, "")...)
			for _, answer := range [][]byte{f.exchangeRaw(t, []byte(line)), overHTTP, modernHTTP} {
				_, fault, _ := strings.Cut(string(answer), `"error":{"code":-`)
				for _, word := range []string{"Go ", "json:", "unmarshal", "struct", "mcp.", "map[", "Params", "Request."} {
					if strings.Contains(fault, word) {
						t.Errorf("%s\n  shows %q: %s", line, word, fault)
						break
					}
				}
			}
		}
	}
}
