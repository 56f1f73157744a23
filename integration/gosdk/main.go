// Gosdk is one MCP client of the official Go SDK, driven by a Go test as
// peer.mjs is. The single argument is JSON, as for peer.mjs.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// plan says which server to connect to, and how.
type plan struct {
	Stdio *struct {
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
	} `json:"stdio"`
	HTTP string `json:"http"`
	SSE  string `json:"sse"`
	Mode string `json:"mode"` // legacy or auto
}

// request is a line of standard input.
type request struct {
	ID       int               `json:"id"`
	Method   string            `json:"method"`
	Args     []json.RawMessage `json:"args"`
	Progress bool              `json:"progress"`
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("peer: ")
	var p plan
	if err := json.Unmarshal([]byte(os.Args[1]), &p); err != nil {
		log.Fatal(err)
	}
	if err := run(context.Background(), p); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, p plan) error {
	session, err := newClient().Connect(ctx, p.transport(), p.options())
	if err != nil {
		return err
	}
	server := session.InitializeResult()
	write(map[string]any{"connected": map[string]any{
		"server": server.ServerInfo, "instructions": server.Instructions, "revision": server.ProtocolVersion,
	}})
	calls := &calls{cancels: map[int]context.CancelFunc{}}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return err
		}
		calls.start(ctx, session, r)
	}
	return session.Close()
}

func (p plan) transport() mcp.Transport {
	switch {
	case p.Stdio != nil:
		cmd := exec.Command(p.Stdio.Command, p.Stdio.Args...)
		cmd.Stderr = os.Stderr
		for key, value := range p.Stdio.Env {
			cmd.Env = append(cmd.Env, key+"="+value)
		}
		return &mcp.CommandTransport{Command: cmd}
	case p.SSE != "":
		return &mcp.SSEClientTransport{Endpoint: p.SSE}
	default:
		return &mcp.StreamableClientTransport{Endpoint: p.HTTP}
	}
}

func (p plan) options() *mcp.ClientSessionOptions {
	if p.Mode == "legacy" {
		return &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"}
	}
	return nil
}

// newClient returns a client that prints the server's notifications.
func newClient() *mcp.Client {
	return mcp.NewClient(&mcp.Implementation{Name: "skills-mcp-integration", Version: "1.0.0"}, &mcp.ClientOptions{
		PromptListChangedHandler: func(_ context.Context, r *mcp.PromptListChangedRequest) {
			notified("notifications/prompts/list_changed", r.Params)
		},
		ResourceListChangedHandler: func(_ context.Context, r *mcp.ResourceListChangedRequest) {
			notified("notifications/resources/list_changed", r.Params)
		},
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			notified("notifications/resources/updated", r.Params)
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			write(map[string]any{"progress": map[string]any{"id": r.Params.ProgressToken, "message": r.Params.Message}})
		},
	})
}

func notified(method string, params any) {
	write(map[string]any{"notification": map[string]any{"method": method, "params": params}})
}

// calls are those that have not been answered.
type calls struct {
	mu      sync.Mutex
	cancels map[int]context.CancelFunc // by the request's ID
}

// start answers a request as soon as the server has answered it.
func (c *calls) start(ctx context.Context, session *mcp.ClientSession, r request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Method == "cancel" {
		var id int
		json.Unmarshal(r.Args[0], &id)
		c.cancels[id]()
		write(map[string]any{"id": r.ID, "result": nil})
		return
	}
	ctx, c.cancels[r.ID] = context.WithCancel(ctx)
	go func() {
		answer := map[string]any{"id": r.ID}
		if result, err := r.send(ctx, session); err != nil {
			answer["error"] = describe(err)
		} else {
			answer["result"] = result
		}
		write(answer)
	}()
}

func describe(err error) map[string]any {
	if answer, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return map[string]any{"code": answer.Code, "message": answer.Message, "data": answer.Data}
	}
	return map[string]any{"code": fmt.Sprintf("%T", err), "message": err.Error()}
}

var stdout sync.Mutex

func write(line any) {
	encoded, err := json.Marshal(line)
	if err != nil {
		log.Fatal(err)
	}
	stdout.Lock()
	defer stdout.Unlock()
	os.Stdout.Write(append(encoded, '\n'))
}
