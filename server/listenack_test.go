package server_test

import (
	"bytes"
	"net/http"
	"sync"
	"testing"

	"github.com/skills-mcp/skills-mcp/testdata"
)

// TestHTTPListenForNothing: a request to listen for what the server never
// tells is acknowledged before it ends, every time.
func TestHTTPListenForNothing(t *testing.T) {
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
