package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// burstFiles is more than any queue of the library holds.
const burstFiles = 500

var transports = []string{"stdio legacy", "stdio modern", "HTTP legacy", "HTTP modern", "SSE legacy", "SSE modern"}

// burstFixture serves a skill of many files.
func burstFixture(t *testing.T) (f *fixture, uris []string) {
	t.Helper()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "many", "SKILL.md"), []byte("---\nname: many\ndescription: Many.\n---\n"))
	f = newFixture(t, root)
	for i := range burstFiles {
		uris = append(uris, fmt.Sprintf("skill://many/%03d.md", i))
	}
	return f, uris
}

// burst tells the server that files of the skill have changed at once.
func (f *fixture) burst(t *testing.T, uris ...string) {
	t.Helper()
	snapshot := f.catalog.Snapshot()
	skill, ok := snapshot.Lookup("many")
	if !ok {
		t.Fatal("there is no skill")
	}
	change := catalog.Change{Before: snapshot, After: snapshot}
	for _, uri := range uris {
		change.Files = append(change.Files, filepath.Join(skill.Dir, strings.TrimPrefix(uri, "skill://many/")))
	}
	f.server.Notify(change)
}

// hear subscribes over a transport; the client reads all the time.
func (f *fixture) hear(t *testing.T, transport string, uris []string) <-chan string {
	t.Helper()
	name, era, _ := strings.Cut(transport, " ")
	switch name {
	case "HTTP":
		heard := f.stream(t, f.serveHTTP(t), era, uris...)
		if era == "modern" {
			(&listener{heard: heard}).acknowledged(t)
		}
		return heard
	case "SSE":
		if era == "modern" {
			c := openSSE(t, f.serveHTTP(t))
			c.listenModern(t, map[string]any{"resourceSubscriptions": uris})
			return c.told
		}
		c := dialSSE(t, f.serveHTTP(t))
		for _, uri := range uris {
			c.ask(t, "resources/subscribe", map[string]any{"uri": uri})
		}
		return c.told
	}
	return f.listenStdio(t, transport, uris)
}

// subscribed opens a session of 2025-11-25 that has subscribed.
func subscribed(t *testing.T, url string, uris []string) (headers []string) {
	t.Helper()
	headers = legacy(t, url)
	for _, uri := range uris {
		post(t, url+"/mcp", rpc(2, "resources/subscribe", map[string]any{"uri": uri}), headers...)
	}
	return headers
}

// updates counts the updates of each URI that come until one of last comes.
func updates(t *testing.T, heard <-chan string, last string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for counts[last] == 0 {
		select {
		case line := <-heard:
			var m struct {
				Method string
				Params struct{ URI string }
			}
			must(t, json.Unmarshal([]byte(line), &m))
			if m.Method == "notifications/resources/updated" {
				counts[m.Params.URI]++
			}
		case <-time.After(patience):
			t.Fatalf("%d resources were heard of, and then no more", len(counts))
		}
	}
	return counts
}

// TestBursts: a client that reads hears of every file that it subscribed to,
// however many change at once.
func TestBursts(t *testing.T) {
	t.Parallel()
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			f, uris := burstFixture(t)
			heard := f.hear(t, transport, uris)
			f.burst(t, uris...)
			if counts := updates(t, heard, uris[len(uris)-1]); len(counts) != len(uris) {
				t.Errorf("of %d resources %d were heard of", len(uris), len(counts))
			}
		})
	}
}

// TestBurstsWhileAsking: nothing is lost to the answers of a client that asks
// at the same time.
func TestBurstsWhileAsking(t *testing.T) {
	t.Parallel()
	f, uris := burstFixture(t)
	url := f.serveHTTP(t)
	headers := subscribed(t, url, uris)
	heard := listenHTTP(t, url, headers)
	for round := range 10 {
		burst := uris[round*burstFiles/10 : (round+1)*burstFiles/10]
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			for range 10 {
				post(t, url+"/mcp", rpc(3, "ping", map[string]any{}), headers...)
			}
		}()
		for _, uri := range burst {
			f.burst(t, uri)
		}
		if counts := updates(t, heard, burst[len(burst)-1]); len(counts) != len(burst) {
			t.Errorf("of %d resources %d were heard of", len(burst), len(counts))
		}
		<-asked
	}
}

// listenHTTP opens the stream of a session, whose client reads all the time.
func listenHTTP(t *testing.T, url string, headers []string) <-chan string {
	t.Helper()
	response := send(t, http.MethodGet, url+"/mcp", headers...)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("stream: %s", response.Status)
	}
	return lines(response)
}

// TestBurstsAreCoalesced: what nobody reads is kept once, to be told when
// somebody does.
func TestBurstsAreCoalesced(t *testing.T) {
	t.Parallel()
	f, uris := burstFixture(t)
	url := f.serveHTTP(t)
	headers := subscribed(t, url, uris)
	for range 20 {
		f.burst(t, uris...)
	}
	post(t, url+"/mcp", rpc(3, "resources/unsubscribe", map[string]any{"uri": uris[0]}), headers...)
	counts := updates(t, listenHTTP(t, url, headers), uris[len(uris)-1])
	if len(counts) != len(uris)-1 {
		t.Errorf("of %d resources %d were heard of", len(uris)-1, len(counts))
	}
	for uri, count := range counts {
		if count != 1 || uri == uris[0] {
			t.Errorf("%s was told %d times", uri, count)
		}
	}
}

// TestBurstsForSilentClients: clients that never read cost no other one.
func TestBurstsForSilentClients(t *testing.T) {
	t.Parallel()
	f, uris := burstFixture(t)
	// Long names, so that what is not read soon fills all that lies between.
	for i := range uris {
		uris[i] = strings.Replace(uris[i], "/many/", "/many/"+strings.Repeat(strings.Repeat("d", 199)+"/", 5), 1)
	}
	url := f.serveHTTP(t)
	for range 3 {
		headers := subscribed(t, url, uris)
		send(t, http.MethodGet, url+"/mcp", headers...) // and nothing is read of it
	}
	heard := f.stream(t, url, "modern", uris...)
	(&listener{heard: heard}).acknowledged(t)
	for range testenv.Rounds(t, 5, 12) {
		f.burst(t, uris...)
		if counts := updates(t, heard, uris[len(uris)-1]); len(counts) != len(uris) {
			t.Fatalf("of %d resources %d were heard of", len(uris), len(counts))
		}
	}
}
