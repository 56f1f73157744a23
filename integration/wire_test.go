package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// message is any JSON-RPC message that the server sends.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      *int            `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *rpcError       `json:"error"`

	raw []byte // the whole line, without its newline
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }

// inbox keeps what arrives until a test looks for it.
type inbox[T any] struct {
	mu      sync.Mutex
	items   []T
	arrived chan struct{} // closed and renewed at each arrival
	closed  bool
}

func newInbox[T any]() *inbox[T] {
	return &inbox[T]{arrived: make(chan struct{})}
}

func (b *inbox[T]) put(item T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = append(b.items, item)
	close(b.arrived)
	b.arrived = make(chan struct{})
}

// end says that nothing more will arrive.
func (b *inbox[T]) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	close(b.arrived)
	b.arrived = make(chan struct{})
}

// take removes and returns the first item wanted, waiting for it if need be.
func (b *inbox[T]) take(t *testing.T, what string, wanted func(T) bool) T {
	t.Helper()
	item, found := b.within(program.Patience, wanted)
	if !found {
		t.Fatalf("not within %v, or the connection ended before: %s", program.Patience, what)
	}
	return item
}

// within is take with a timeout of its own.
func (b *inbox[T]) within(timeout time.Duration, wanted func(T) bool) (item T, found bool) {
	deadline := time.After(timeout)
	for {
		b.mu.Lock()
		for i, item := range b.items {
			if wanted(item) {
				b.items = append(b.items[:i:i], b.items[i+1:]...)
				b.mu.Unlock()
				return item, true
			}
		}
		arrived, closed := b.arrived, b.closed
		b.mu.Unlock()
		if closed {
			return item, false
		}
		select {
		case <-arrived:
		case <-deadline:
			return item, false
		}
	}
}

// wire is the plainest client: JSON-RPC lines over a process's pipes. It fails
// the test when stdout carries anything else.
type wire struct {
	*program.Process
	messages *inbox[message]
	lastID   int
}

// dial starts a stdio server and connects to it without a handshake.
func dial(t *testing.T, env []string, args ...string) *wire {
	t.Helper()
	w := &wire{Process: program.Start(t, env, program.Binary(t), args...), messages: newInbox[message]()}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer w.messages.end()
		for lines := bufio.NewReader(w.Stdout); ; {
			line, err := lines.ReadBytes('\n')
			if len(line) > 0 {
				w.receive(t, line)
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		w.Stop(t)
		<-read
	})
	return w
}

func (w *wire) receive(t *testing.T, line []byte) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil || m.JSONRPC != "2.0" || line[len(line)-1] != '\n' {
		t.Errorf("stdout carries what is no JSON-RPC line: %q (%v)", line, err)
		return
	}
	m.raw = line[:len(line)-1]
	w.messages.put(m)
}

func (w *wire) send(t *testing.T, m map[string]any) {
	t.Helper()
	m["jsonrpc"] = "2.0"
	line, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Stdin.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
}

// request sends a request without waiting for its answer and returns its id.
func (w *wire) request(t *testing.T, method string, params any) int {
	t.Helper()
	w.lastID++
	w.send(t, map[string]any{"id": w.lastID, "method": method, "params": params})
	return w.lastID
}

// call sends a request and returns the whole answer, which must not be an
// error.
func (w *wire) call(t *testing.T, method string, params any) message {
	t.Helper()
	id := w.request(t, method, params)
	answer := w.messages.take(t, "the answer to "+method, func(m message) bool {
		return m.Method == "" && m.ID != nil && *m.ID == id
	})
	if answer.Error != nil {
		t.Fatalf("%s: %v", method, answer.Error)
	}
	return answer
}

// handshake initializes the session and returns the answer to initialize.
func (w *wire) handshake(t *testing.T) message {
	t.Helper()
	answer := w.call(t, "initialize", map[string]any{
		"protocolVersion": "2025-11-25",
		"capabilities":    map[string]any{},
		"clientInfo":      map[string]any{"name": "wire", "version": "1"},
	})
	w.send(t, map[string]any{"method": "notifications/initialized"})
	return answer
}

// callTool calls a tool and returns its result.
func (w *wire) callTool(t *testing.T, name string, arguments any) toolResult {
	t.Helper()
	var result toolResult
	answer := w.call(t, "tools/call", map[string]any{"name": name, "arguments": arguments})
	if err := json.Unmarshal(answer.Result, &result); err != nil {
		t.Fatal(err)
	}
	return result
}
