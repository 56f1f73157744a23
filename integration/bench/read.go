package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	httpClients = 32
	loadTime    = time.Second // of one side's turn
)

// bareHandler is the side that does nothing but what cannot be left out, and
// bareMode the argument by which this program is it.
const (
	bareHandler = "bare handler"
	bareMode    = "bare"
)

// served measures how many skills are read in a second by clients over HTTP.
func served(skills int) func(*bench) ([]side, error) {
	return func(b *bench) ([]side, error) {
		dir, err := b.library(skills)
		if err != nil {
			return nil, err
		}
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		bare := webServer{name: bareHandler, binary: self, args: func(address string) []string { return []string{bareMode, address + " " + dir} }}
		all := append(b.webPeers(dir), bare)
		for i, binary := range []string{b.base, b.binary} {
			if binary != "" {
				own := webServer{name: []string{base, ours}[i], binary: binary, args: func(address string) []string {
					return []string{"serve", "--sandbox=off", "--http", address, dir}
				}}
				all = append([]webServer{own}, all...)
			}
		}
		var sides []side
		for _, server := range all {
			made, err := b.load(server, skills)
			if err != nil {
				return sides, fmt.Errorf("%s: %w", server.name, err)
			}
			sides = append(sides, made)
		}
		return sides, nil
	}
}

// webServer is a server of MCP over HTTP, which has the skills at /mcp.
type webServer struct {
	name, binary string
	args         func(address string) []string
}

// load starts a server and connects clients, of which each once has all ask as
// much as they can.
func (b *bench) load(server webServer, skills int) (side, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return side{}, err
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return side{}, err
	}
	process := exec.Command(server.binary, server.args(address)...)
	process.Env, process.Dir = b.environ(), b.dir
	if err := process.Start(); err != nil {
		return side{}, err
	}
	made := side{name: server.name, close: func() {
		_ = process.Process.Signal(os.Interrupt)
		_ = process.Wait()
	}}
	clients := make([]*webClient, httpClients)
	for i := range clients {
		if clients[i], err = connect("http://" + address + "/mcp"); err != nil {
			made.close()
			return side{}, err
		}
	}
	made.once = func() (float64, error) { return loadOnce(clients, skills) }
	return made, nil
}

// loadOnce returns how many answers there are in a second.
func loadOnce(clients []*webClient, skills int) (float64, error) {
	counts, errs := make([]int, len(clients)), make([]error, len(clients))
	start := time.Now()
	var asking sync.WaitGroup
	for i, client := range clients {
		asking.Go(func() {
			for n := i; time.Since(start) < loadTime && errs[i] == nil; n += len(clients) {
				errs[i] = client.read(n % skills)
				counts[i]++
			}
		})
	}
	asking.Wait()
	seconds, sum := time.Since(start).Seconds(), 0
	for _, n := range counts {
		sum += n
	}
	return float64(sum) / seconds, errors.Join(errs...)
}

// webClient is a client with a connection and a session of its own.
type webClient struct {
	http         http.Client
	url, session string
}

// connect does the handshake, with a server that may not be listening yet.
func connect(url string) (*webClient, error) {
	c := &webClient{http: http.Client{Transport: &http.Transport{}, Timeout: answerTimeout}, url: url}
	hello := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": handshake}
	var err error
	for deadline := time.Now().Add(answerTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, err = c.post(hello); err == nil {
			_, err = c.post(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
			return c, err
		}
	}
	return nil, err
}

func (c *webClient) read(skill int) error {
	answer, err := c.post(map[string]any{"jsonrpc": "2.0", "id": skill, "method": "resources/read",
		"params": map[string]any{"uri": "skill://" + skillName(skill) + "/SKILL.md"}})
	if err == nil && !bytes.Contains(answer, fmt.Appendf(nil, "# Skill %d", skill)) {
		err = fmt.Errorf("not the skill: %.300s", answer)
	}
	return err
}

func (c *webClient) post(message any) ([]byte, error) {
	encoded, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodPost, c.url, bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		request.Header.Set("Mcp-Session-Id", c.session)
		request.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("status %d: %.300s", response.StatusCode, answer)
	}
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	return answer, err
}

// serveBare is a server that reads and wraps the same files, and does nothing
// else: no sessions, no rules, no checks. It ends with its process.
func serveBare(arguments string) error {
	address, dir, _ := strings.Cut(arguments, " ")
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			ID     *int
			Params struct{ URI string }
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if asked.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		result := map[string]any{}
		if asked.Params.URI != "" {
			text, err := os.ReadFile(filepath.Join(dir, strings.TrimPrefix(asked.Params.URI, "skill://")))
			if err != nil {
				http.Error(w, err.Error(), http.StatusNotFound)
				return
			}
			result["contents"] = []any{map[string]any{"uri": asked.Params.URI, "mimeType": "text/markdown", "text": string(text)}}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": asked.ID, "result": result})
	}))
}
