package server_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/testdata"
)

// TestHTTPListenForNothing: a request to listen for what the server never
// tells is acknowledged before it ends, every time.
func TestHTTPListenForNothing(t *testing.T) {
	t.Parallel()
	url := newFixture(t, testdata.Valid()).serveHTTP(t) + "/mcp"
	message := rpc(7, "subscriptions/listen", modern(map[string]any{"notifications": map[string]any{"toolsListChanged": true}}))
	listen := func() {
		response, body := post(t, url, message, modernHeaders("subscriptions/listen", "")...)
		ack := bytes.Index(body, []byte(`"method":"notifications/subscriptions/acknowledged"`))
		tag := bytes.Index(body, []byte(`"io.modelcontextprotocol/subscriptionId":7`))
		end := bytes.Index(body, []byte(`"resultType":"complete"`))
		if response.StatusCode != http.StatusOK || ack < 0 || tag < 0 || tag > end || ack > end ||
			bytes.Count(body, []byte("event: message\ndata: ")) != 2 {
			t.Errorf("%s %s", response.Status, body)
		}
	}
	// The more requests run side by side, the sooner one is overtaken by its
	// own end.
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for range 50 {
				listen()
			}
		})
	}
	clients.Wait()
}

// TestListenStdioForNothing: the same over stdio.
func TestListenStdioForNothing(t *testing.T) {
	t.Parallel()
	p := newFixture(t, testdata.Valid()).play(t)
	defer p.end()
	const requests = 80
	for id := range requests {
		line, err := json.Marshal(rpc(id, "subscriptions/listen", modern(map[string]any{"notifications": map[string]any{"toolsListChanged": true}})))
		must(t, err)
		p.send(line)
	}
	acknowledged := map[string]bool{}
	for ended := 0; ended < requests; {
		var m struct {
			ID     json.RawMessage
			Result json.RawMessage
			Params struct {
				Meta map[string]json.RawMessage `json:"_meta"`
			}
		}
		line := p.next()
		must(t, json.Unmarshal(line, &m))
		if m.ID == nil {
			acknowledged[string(m.Params.Meta["io.modelcontextprotocol/subscriptionId"])] = true
			continue
		}
		if ended++; m.Result == nil || !acknowledged[string(m.ID)] {
			t.Errorf("not acknowledged before: %s", line)
		}
	}
}

// next returns the next message of the server.
func (p *player) next() []byte {
	p.t.Helper()
	select {
	case line := <-p.messages:
		return line
	case <-time.After(patience):
		p.t.Fatal("no message came")
		return nil
	}
}
