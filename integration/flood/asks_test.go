package flood

import (
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// A flood has so many requests, pings and cancellations apart: many times what the
// server does at once, and what it lets wait.
const (
	someAsked = 600
	allAsked  = 2000
)

// ask is one request of a flood.
type ask struct {
	method string
	params map[string]any
	// taken says that the client takes it back, after which no answer has to
	// come; lasts, that none would come otherwise.
	taken, lasts bool
}

// asks are the requests of a flood. Programs that last have the marker on
// their command line.
func asks(t testing.TB, marker string) []ask {
	t.Helper()
	tool := func(name string, arguments map[string]any) ask {
		return ask{method: "tools/call", params: map[string]any{"name": name, "arguments": arguments}}
	}
	exec := func(command string) ask { return tool("exec", map[string]any{"name": "note", "command": command}) }
	of := func(method string, params map[string]any) ask { return ask{method: method, params: params} }
	lasting := exec("sleep " + marker)
	lasting.taken, lasting.lasts = true, true
	quick := exec("echo taken back")
	quick.taken = true
	activate := tool("activate", map[string]any{"name": "note"})
	kinds := []ask{
		activate, exec("echo here"), of("skills/list", nil), lasting,
		activate, tool("readResource", map[string]any{"name": "note", "path": "SKILL.md"}), of("tools/list", nil),
		activate, of("resources/read", map[string]any{"uri": "skill://note/SKILL.md"}), lasting,
		activate, tool("findSkills", map[string]any{}), of("prompts/list", nil),
		activate, of("prompts/get", map[string]any{"name": "note"}), quick,
		tool("activate", map[string]any{"name": "missing"}), of("no/such/method", nil),
		of("resources/read", map[string]any{"uri": 5}), of("resources/list", nil),
	}
	asked := testenv.Rounds(t, someAsked, allAsked)
	all := make([]ask, 0, asked)
	for len(all) < asked {
		all = append(all, kinds[len(all)%len(kinds)])
	}
	return all
}

// era is one of the protocol's two.
type era struct {
	name string
	// ping is its shortest request: the modern era has none of that name.
	ping string
	meta map[string]any
}

var (
	legacy = era{name: "legacy", ping: "ping"}
	modern = era{name: "modern", ping: "server/discover", meta: map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "flood", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}}
)

// initialize is the handshake of the legacy era.
var initialize = map[string]any{
	"protocolVersion": "2025-11-25",
	"capabilities":    map[string]any{},
	"clientInfo":      map[string]any{"name": "flood", "version": "1"},
}

// message encodes a request, or a notification where id is nil.
func (e era) message(t testing.TB, id any, method string, params map[string]any) []byte {
	t.Helper()
	full := map[string]any{}
	maps.Copy(full, params)
	if e.meta != nil {
		full["_meta"] = e.meta
	}
	message := map[string]any{"jsonrpc": "2.0", "method": method, "params": full}
	if id != nil {
		message["id"] = id
	}
	encoded, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// answers counts what came back.
type answers struct {
	mu      sync.Mutex
	count   map[string]int // by id, as JSON
	changed chan struct{}  // closed and renewed when an answer comes
}

func newAnswers() *answers {
	return &answers{count: map[string]int{}, changed: make(chan struct{})}
}

// take notes a message of the server, of which only responses count.
func (a *answers) take(line []byte) error {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return fmt.Errorf("%w: %.200q", err, line)
	}
	if m.Method != "" {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count[string(m.ID)]++
	close(a.changed)
	a.changed = make(chan struct{})
	return nil
}

// of returns how many answers a request has, and a channel that closes when
// there is one more, of whatever request.
func (a *answers) of(id string) (int, <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.count[id], a.changed
}

// check holds every request against what came back for it. Those that were
// taken back are answered over legacy HTTP, where a request is one of HTTP.
func (a *answers) check(t testing.TB, all []ask, takenToo bool) {
	t.Helper()
	unanswered := 0
	for id, one := range all {
		count, _ := a.of(fmt.Sprint(id))
		if count == 0 {
			unanswered++
		}
		if count > 1 || count == 0 && (takenToo || !one.taken) {
			t.Errorf("request %d (%s %v) has %d answers", id, one.method, one.params, count)
		}
	}
	if unanswered == 0 && !takenToo {
		t.Error("no request was taken back in time; nothing was tested of that")
	}
}
