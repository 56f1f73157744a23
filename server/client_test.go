package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// client is a client of one stdio server that asks questions, several at a
// time if need be, and keeps all that it was told.
type client struct {
	fixture *fixture
	input   *io.PipeWriter
	served  chan error
	read    chan struct{} // closes when all output is read

	mu      sync.Mutex
	last    int
	waiting map[string]chan reply // by id
	heard   bytes.Buffer
}

// reply is an answer to a request.
type reply struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *rpcFault
}

type rpcFault struct {
	Code    int
	Message string
	Data    struct{ Code, Hint, URI string }
}

// connect starts a server on pipes and shakes hands. It ends with the test.
func (f *fixture) connect(t *testing.T) *client {
	t.Helper()
	input, feed := io.Pipe()
	output, sink := io.Pipe()
	c := &client{fixture: f, input: feed, served: make(chan error, 1), read: make(chan struct{}), waiting: map[string]chan reply{}}
	go func() {
		c.served <- f.server.ServeStdio(context.WithoutCancel(t.Context()), input, sink)
		sink.Close()
	}()
	go c.listen(output)
	t.Cleanup(func() { c.close(t) })
	c.ask(t, "initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"},
	})
	c.send(t, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return c
}

func (c *client) listen(output io.Reader) {
	defer close(c.read)
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var r reply
		_ = json.Unmarshal(lines.Bytes(), &r) // what is no reply has no id that is waited for
		c.mu.Lock()
		c.heard.Write(lines.Bytes())
		c.heard.WriteByte('\n')
		if waiting := c.waiting[string(r.ID)]; waiting != nil {
			delete(c.waiting, string(r.ID))
			waiting <- r
		}
		c.mu.Unlock()
	}
}

// close ends the input, and checks that the server ends for it.
func (c *client) close(t *testing.T) {
	c.input.Close()
	select {
	case <-c.read:
	case <-time.After(patience):
		t.Error("the server did not end with its input")
		return
	}
	if err := <-c.served; err != nil {
		t.Errorf("serving ended with %v", err)
	}
}

// transcript is all that the server wrote so far.
func (c *client) transcript() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heard.String()
}

func (c *client) send(t *testing.T, message any) {
	t.Helper()
	line, err := json.Marshal(message)
	if err == nil {
		_, err = c.input.Write(append(line, '\n'))
	}
	if err != nil {
		t.Fatalf("the server does not read any more: %v", err)
	}
}

// start asks and does not wait.
func (c *client) start(t *testing.T, method string, params any) <-chan reply {
	t.Helper()
	answer := make(chan reply, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.waiting[strconv.Itoa(id)] = answer
	c.mu.Unlock()
	c.send(t, map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return answer
}

// ask asks and waits for the answer.
func (c *client) ask(t *testing.T, method string, params any) reply {
	t.Helper()
	return c.await(t, c.start(t, method, params), method)
}

func (c *client) await(t *testing.T, answer <-chan reply, what string) reply {
	t.Helper()
	select {
	case r := <-answer:
		return r
	case <-c.read:
		t.Fatalf("the server ended before it answered %s", what)
	case <-time.After(patience):
		t.Fatalf("no answer came to %s", what)
	}
	return reply{}
}

// answer is what a tool gave.
type answer struct {
	Content    []answerPart
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool
	Meta       answerMeta `json:"_meta"`
}

// answerMeta is what an answer has for programs.
type answerMeta struct {
	Path, MIME string
	Size       int64
	Truncated  bool
	NextOffset int
	Grants     json.RawMessage
}

type answerPart struct {
	Type, Text, MIMEType, Data, URI string
	Resource                        contents
}

// contents are those of a resource.
type contents struct{ URI, MIMEType, Text, Blob string }

// text is the answer's text, its parts joined.
func (a answer) text() string {
	var parts []string
	for _, part := range a.Content {
		if part.Type == "text" {
			parts = append(parts, part.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// code is the stable code with which an error begins, or empty.
func (a answer) code() string {
	code, _, _ := strings.Cut(a.text(), ":")
	if !a.IsError {
		code = ""
	}
	return code
}

// call calls a tool.
func (c *client) call(t *testing.T, tool string, arguments map[string]any) answer {
	t.Helper()
	return decodeAnswer(t, tool, c.ask(t, "tools/call", map[string]any{"name": tool, "arguments": arguments}))
}

func decodeAnswer(t *testing.T, tool string, r reply) (a answer) {
	t.Helper()
	if r.Error != nil {
		t.Fatalf("%s: %+v", tool, *r.Error)
	}
	must(t, json.Unmarshal(r.Result, &a))
	return a
}

// ran is what became of a program, as exec tells it.
type ran struct {
	Status         string
	ExitCode       *int
	Signal         string
	Stdout, Stderr string
	StdoutFile     string
	SkillDigest    string
	Workspace      string
	Artifacts      []struct {
		ID, Filename, MIMEType, Digest, Source string
		Size                                   int64
	}
	ArtifactsOmitted int
	Error            struct{ Code, Message, Hint string }
}

// exec runs a program of a skill, which must have been started.
func (c *client) exec(t *testing.T, name string, arguments map[string]any) ran {
	t.Helper()
	return decodeRan(t, c.await(t, c.startExec(t, name, arguments), "exec"))
}

// startExec starts it and does not wait.
func (c *client) startExec(t *testing.T, name string, arguments map[string]any) <-chan reply {
	t.Helper()
	full := map[string]any{"name": name}
	for key, value := range arguments {
		full[key] = value
	}
	return c.start(t, "tools/call", map[string]any{"name": "exec", "arguments": full})
}

func decodeRan(t *testing.T, r reply) (run ran) {
	t.Helper()
	a := decodeAnswer(t, "exec", r)
	if a.Structured == nil {
		t.Fatalf("exec was refused: %s", a.text())
	}
	must(t, json.Unmarshal(a.Structured, &run))
	return run
}

// exit is the exit code, or -1 where the program had none.
func (r ran) exit() int {
	if r.ExitCode == nil {
		return -1
	}
	return *r.ExitCode
}

// readURI reads a resource, or returns the error.
func (c *client) readURI(t *testing.T, uri string) (contents, *rpcFault) {
	t.Helper()
	r := c.ask(t, "resources/read", map[string]any{"uri": uri})
	if r.Error != nil {
		return contents{}, r.Error
	}
	var result struct{ Contents []contents }
	must(t, json.Unmarshal(r.Result, &result))
	if len(result.Contents) != 1 {
		t.Fatalf("%s has %d contents", uri, len(result.Contents))
	}
	return result.Contents[0], nil
}

// all follows the cursors of a list to its end.
func (c *client) all(t *testing.T, method string) []string {
	t.Helper()
	names, _ := allPages(t, method, func(_ testing.TB, method string, params map[string]any) []byte {
		r := c.ask(t, method, params)
		raw, err := json.Marshal(r)
		must(t, err)
		return raw
	})
	return names
}
