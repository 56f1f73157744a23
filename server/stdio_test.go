package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serveInput serves input that is there as a whole, and returns what came back,
// by id; what has none is under "null".
func (f *fixture) serveInput(t *testing.T, input string) map[string][]reply {
	t.Helper()
	var output bytes.Buffer
	if err := f.server.ServeStdio(t.Context(), strings.NewReader(input), &output); err != nil {
		t.Errorf("serving ended with %v", err)
	}
	replies := map[string][]reply{}
	for line := range bytes.Lines(output.Bytes()) {
		var r reply
		must(t, json.Unmarshal(line, &r))
		replies[string(r.ID)] = append(replies[string(r.ID)], r)
	}
	return replies
}

func one(t *testing.T, replies map[string][]reply, id string) reply {
	t.Helper()
	if len(replies[id]) != 1 {
		t.Fatalf("request %s has %d answers; all: %+v", id, len(replies[id]), replies)
	}
	return replies[id][0]
}

// noteFixture serves one small skill, and one that can hang.
func noteFixture(t *testing.T) *fixture {
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "note", "SKILL.md"), []byte(noteSkill))
	writeFile(t, filepath.Join(root, "hang", "SKILL.md"), []byte("---\nname: hang\ndescription: Hangs.\n---\n"))
	writeFile(t, filepath.Join(root, "hang", "hang.sh"), []byte("trap '' TERM INT HUP PIPE\nsleep 600 &\nsleep 600\n"))
	return newFixture(t, root)
}

const pingLine = `{"jsonrpc":"2.0","id":"ping","method":"ping"}` + "\n"

// TestStdioLongMessage: a message that is too long is refused, and costs no
// other one.
func TestStdioLongMessage(t *testing.T) {
	t.Parallel()
	const limit = 16 << 20
	f := noteFixture(t)
	padded := func(length int) string {
		const head, tail = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"activate","arguments":{"name":"`, "\"}}}\n"
		return head + strings.Repeat("x", length-len(head)-len(tail)) + tail
	}
	replies := f.serveInput(t, padded(limit+1)+pingLine)
	if refused := one(t, replies, "null"); refused.Error == nil || refused.Error.Code != -32600 || !strings.Contains(refused.Error.Message, "16 MiB") {
		t.Errorf("one byte too many: %+v", refused)
	}
	if ping := one(t, replies, `"ping"`); ping.Error != nil {
		t.Errorf("the next message: %+v", *ping.Error)
	}
	replies = f.serveInput(t, padded(limit/64)+pingLine) // the whole limit takes seconds to decode
	if a := decodeAnswer(t, "activate", one(t, replies, "1")); a.code() != "invalid_arguments" {
		t.Errorf("a long message: %s", a.text())
	}
}

// TestStdioPiped: all that was piped in is answered, once each.
func TestStdioPiped(t *testing.T) {
	t.Parallel()
	f := noteFixture(t)
	requests := []string{
		`"tools/call","params":{"name":"findSkills","arguments":{}}`,
		`"tools/call","params":{"name":"activate","arguments":{"name":"note"}}`,
		`"tools/call","params":{"name":"readResource","arguments":{"name":"note","path":"SKILL.md"}}`,
		`"tools/call","params":{"name":"readResource","arguments":{"name":"note","path":"."}}`,
		`"resources/read","params":{"uri":"skill://note/SKILL.md"}`, // by the router
		`"skills/list","params":{}`,
		`"prompts/list","params":{}`,
	}
	var input strings.Builder
	const calls = 150
	for id := range calls {
		fmt.Fprintf(&input, `{"jsonrpc":"2.0","id":%d,"method":%s}`+"\n", id, requests[id%len(requests)])
	}
	replies := f.serveInput(t, input.String())
	for id := range calls {
		if r := one(t, replies, fmt.Sprint(id)); r.Error != nil || r.Result == nil {
			t.Errorf("request %d: %+v", id, r)
		}
	}
	if len(replies) != calls {
		t.Errorf("%d requests have answers, want %d", len(replies), calls)
	}
}

// TestStdioPipedTools: tool calls are more than the workers at once.
func TestStdioPipedTools(t *testing.T) {
	t.Parallel()
	needBash(t)
	f := noteFixture(t)
	var input strings.Builder
	const calls = 100
	for id := range calls {
		call := fmt.Sprintf(`{"name":"activate","arguments":{"name":"note","arguments":"%d"}}`, id)
		if id%10 == 0 {
			call = fmt.Sprintf(`{"name":"exec","arguments":{"name":"note","command":"echo ARGUMENTS: %d"}}`, id)
		}
		fmt.Fprintf(&input, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", id, call)
	}
	replies := f.serveInput(t, input.String())
	for id := range calls {
		if a := decodeAnswer(t, "call", one(t, replies, fmt.Sprint(id))); a.IsError || !strings.Contains(a.text(), fmt.Sprintf("ARGUMENTS: %d\n", id)) {
			t.Errorf("call %d: %s", id, a.text())
		}
	}
}

// TestStdioEndsInsideLine: what comes without a line's end is answered if it
// is whole, and refused if it is not.
func TestStdioEndsInsideLine(t *testing.T) {
	t.Parallel()
	f := noteFixture(t)
	if r := one(t, f.serveInput(t, strings.TrimSuffix(pingLine, "\n")), `"ping"`); r.Error != nil {
		t.Errorf("a request without a line's end: %+v", *r.Error)
	}
	replies := f.serveInput(t, pingLine+pingLine[:len(pingLine)/2])
	if r := one(t, replies, `"ping"`); r.Error != nil {
		t.Errorf("the request before: %+v", *r.Error)
	}
	if r := one(t, replies, "null"); r.Error == nil || r.Error.Code != -32700 {
		t.Errorf("half a request: %+v", r)
	}
	for _, nothing := range []string{"", "\n", " \r\n\n\t"} {
		if replies := f.serveInput(t, nothing); len(replies) != 0 {
			t.Errorf("%q was answered: %+v", nothing, replies)
		}
	}
}

// hangLine starts a program that does not end by itself.
const hangLine = `{"jsonrpc":"2.0","id":"hang","method":"tools/call","params":{"name":"exec","arguments":{"name":"hang","script":"hang.sh"}}}` + "\n"

// awaitHang sends the call, and waits until its program runs.
func (f *fixture) awaitHang(t *testing.T, input io.Writer) {
	t.Helper()
	needBash(t)
	_, err := io.WriteString(input, hangLine)
	must(t, err)
	f.awaitProcesses(t, "hang", true)
}

// awaitEnd waits until serving ends, by when the program is dead.
func (f *fixture) awaitEnd(t *testing.T, served <-chan error) error {
	t.Helper()
	select {
	case err := <-served:
		if left := f.processesOf(t, "hang"); len(left) > 0 {
			t.Errorf("processes are left: %q", left)
		}
		return err
	case <-time.After(patience):
		t.Fatal("serving does not end")
		return nil
	}
}

// serve serves stdio on pipes, of which the caller holds the other ends.
func (f *fixture) serve(ctx context.Context) (input *io.PipeWriter, output *io.PipeReader, served <-chan error) {
	in, feed := io.Pipe()
	out, sink := io.Pipe()
	end := make(chan error, 1)
	go func() {
		end <- f.server.ServeStdio(ctx, in, sink)
		sink.Close()
	}()
	return feed, out, end
}

// TestStdioHangAtEnd: a call that hangs at the end of input is canceled, and
// what was asked besides is answered.
func TestStdioHangAtEnd(t *testing.T) {
	t.Parallel() // it takes as long as such a call is waited for
	f := noteFixture(t)
	input, output, served := f.serve(t.Context())
	told := make(chan string, 1)
	go func() {
		all, _ := io.ReadAll(output)
		told <- string(all)
	}()
	f.awaitHang(t, input)
	_, err := io.WriteString(input, pingLine)
	must(t, err)
	input.Close()
	if err := f.awaitEnd(t, served); err != nil {
		t.Errorf("serving ended with %v", err)
	}
	if all := <-told; !strings.Contains(all, `"id":"ping"`) {
		t.Errorf("the other request was not answered: %s", all)
	}
}

// TestStdioOutputFails: a client that does not listen any more ends the
// server, and what runs for it.
func TestStdioOutputFails(t *testing.T) {
	t.Parallel()
	f := noteFixture(t)
	input, output, served := f.serve(t.Context())
	f.awaitHang(t, input)
	gone := errors.New("the client is gone")
	output.CloseWithError(gone)
	_, err := io.WriteString(input, pingLine)
	must(t, err)
	if err := f.awaitEnd(t, served); !errors.Is(err, gone) {
		t.Errorf("serving ended with %v, want the error of the output", err)
	}
}

// TestStdioCanceled: the end of the context ends a call that runs, though the
// input stays open.
func TestStdioCanceled(t *testing.T) {
	t.Parallel()
	f := noteFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	input, output, served := f.serve(ctx)
	go func() { _, _ = io.Copy(io.Discard, output) }()
	f.awaitHang(t, input)
	cancel()
	if err := f.awaitEnd(t, served); err != nil {
		t.Errorf("serving ended with %v", err)
	}
}

// TestStdioCallCanceled: a client takes a call back, and goes on.
func TestStdioCallCanceled(t *testing.T) {
	t.Parallel()
	f := noteFixture(t)
	input, output, served := f.serve(t.Context())
	lines := bufio.NewScanner(output)
	f.awaitHang(t, input)
	_, err := io.WriteString(input, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"hang"}}`+"\n")
	must(t, err)
	f.awaitProcesses(t, "hang", false)
	go func() { _, _ = io.WriteString(input, pingLine) }()
	for lines.Scan() && !strings.Contains(lines.Text(), `"id":"ping"`) {
	}
	input.Close()
	_, _ = io.Copy(io.Discard, output)
	if err := f.awaitEnd(t, served); err != nil {
		t.Errorf("serving ended with %v", err)
	}
}

// TestStdioServesOne: a server has one stdio client at a time, and says so to
// a second one rather than not to answer.
func TestStdioServesOne(t *testing.T) {
	t.Parallel()
	f := noteFixture(t)
	f.connect(t)
	input, _, served := f.serve(t.Context())
	defer input.Close()
	if err := f.awaitEnd(t, served); err == nil {
		t.Error("two clients are served")
	}
}

// TestStdioNobodyReads: a client that does not read and does not go away
// cannot keep the server from ending.
func TestStdioNobodyReads(t *testing.T) {
	t.Parallel() // it takes as long as such a client is waited for
	f := newFixture(t, t.TempDir())
	output, sink := io.Pipe()
	defer output.Close() // what was left behind goes now
	request := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n"
	if err := f.server.ServeStdio(t.Context(), strings.NewReader(request), sink); err == nil {
		t.Error("serving ended as if all had been answered")
	}
}
