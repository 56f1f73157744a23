package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const noteSkill = "---\nname: note\ndescription: Takes notes.\n---\nWrite.\n"

// watch follows the fixture's root until the test ends.
func (f *fixture) watch(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	watched := make(chan error, 1)
	go func() { watched <- f.catalog.Watch(ctx, f.server.Notify) }()
	t.Cleanup(func() {
		cancel()
		<-watched
	})
}

func reloadFixture(t *testing.T) *fixture {
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "note", "SKILL.md"), []byte(noteSkill))
	f := newFixture(t, root)
	f.watch(t)
	return f
}

// edit makes changes until seen says that the client has heard of them: a
// watch starts at a moment that nobody outside can know.
func edit(t *testing.T, change func(round int), seen func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for round := 0; time.Now().Before(deadline); round++ {
		change(round)
		if seen() {
			return
		}
	}
	t.Fatal("no notification came")
}

// newSkill is a change of the lists, another one each round.
func (f *fixture) newSkill(t *testing.T) func(round int) {
	return func(round int) {
		name := "new-" + strings.Repeat("x", round+1)
		writeFile(t, filepath.Join(f.root, name, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: New.\n---\n"))
	}
}

// TestReloadStdio: a stdio client hears of new skills, and of changes of what
// it subscribed to.
func TestReloadStdio(t *testing.T) {
	t.Parallel()
	f := reloadFixture(t)
	p := f.play(t)
	defer p.end()
	p.step(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	p.step(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	p.step(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"skill://note/SKILL.md"}}`)

	heard := map[string]bool{}
	edit(t, f.newSkill(t), func() bool {
		p.hear(heard, time.Second/2)
		return heard["notifications/resources/list_changed"] && heard["notifications/prompts/list_changed"]
	})
	if heard["notifications/resources/updated"] {
		t.Error("a resource that did not change was said to be updated")
	}
	edit(t, func(round int) {
		writeFile(t, filepath.Join(f.root, "note", "SKILL.md"), []byte(noteSkill+strings.Repeat("More.\n", round+1)))
	}, func() bool {
		p.hear(heard, time.Second/2)
		return heard["notifications/resources/updated"]
	})
	must(t, os.WriteFile(filepath.Join(f.root, "note", "SKILL.md"), []byte("broken"), 0o644))
	if skill, ok := f.catalog.Snapshot().Lookup("note"); !ok || skill.Description != "Takes notes." {
		t.Errorf("the last good version is gone: %v %v", skill, ok)
	}
}

// hear notes the notifications that come within a time.
func (p *player) hear(heard map[string]bool, within time.Duration) {
	deadline := time.After(within)
	for {
		select {
		case line := <-p.messages:
			var m message
			must(p.t, json.Unmarshal(line, &m))
			heard[m.Method] = true
		case <-deadline:
			return
		}
	}
}

// TestReloadHTTP: so does a client over HTTP, in either era.
func TestReloadHTTP(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			f := reloadFixture(t)
			url := f.serveHTTP(t)
			events := f.stream(t, url, era, "skill://note/extra.md")
			var all strings.Builder
			drain := func(wanted string) func() bool {
				return func() bool {
					deadline := time.After(time.Second / 2)
					for {
						select {
						case line := <-events:
							all.WriteString(line + "\n")
						case <-deadline:
							return strings.Contains(all.String(), wanted)
						}
					}
				}
			}
			edit(t, f.newSkill(t), drain("notifications/resources/list_changed"))
			edit(t, func(round int) {
				writeFile(t, filepath.Join(f.root, "note", "extra.md"), []byte(strings.Repeat("x", round+1)))
			}, drain("notifications/resources/updated"))
			if !strings.Contains(all.String(), `"uri":"skill://note/extra.md"`) {
				t.Errorf("updated without its URI: %s", all.String())
			}
			if strings.Contains(all.String(), "prompts/list_changed") != (era == "legacy") {
				t.Errorf("%s clients heard of prompts, or not:\n%s", era, all.String())
			}
		})
	}
}

// stream opens the stream of notifications of an era, subscribed to these
// resources; the modern one asks for nothing of prompts.
func (f *fixture) stream(t *testing.T, url, era string, uris ...string) <-chan string {
	t.Helper()
	var request *http.Request
	var err error
	if era == "legacy" {
		headers := subscribed(t, url, uris)
		request, err = http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/mcp", nil)
		must(t, err)
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
	} else {
		body, err := json.Marshal(rpc(1, "subscriptions/listen", modern(map[string]any{
			"notifications": map[string]any{"resourcesListChanged": true, "resourceSubscriptions": uris}})))
		must(t, err)
		request, err = http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp", strings.NewReader(string(body)))
		must(t, err)
		headers := modernHeaders("subscriptions/listen", "")
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("Accept", "application/json, text/event-stream")
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(response.Body)
		t.Fatalf("stream: %s %s", response.Status, body)
	}
	return lines(response)
}

// lines are the messages of a stream of events, as they come.
func lines(response *http.Response) <-chan string {
	lines := make(chan string, 1000)
	go func() {
		defer response.Body.Close()
		scanner := bufio.NewScanner(response.Body)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			if data, ok := strings.CutPrefix(scanner.Text(), "data: "); ok {
				lines <- data
			}
		}
	}()
	return lines
}

// TestListenStdio: a client of the stateless protocol gets what it asked for,
// tagged with the request that asked, and nothing else.
func TestListenStdio(t *testing.T) {
	t.Parallel()
	f := reloadFixture(t)
	p := f.play(t)
	defer p.end()
	listen, err := json.Marshal(rpc(5, "subscriptions/listen", modern(map[string]any{
		"notifications": map[string]any{"resourcesListChanged": true, "resourceSubscriptions": []string{"skill://note/extra.md"}}})))
	must(t, err)
	p.send(listen)
	p.await(func(m message) bool { return m.Method == "notifications/subscriptions/acknowledged" })

	var heard []string
	hear := func(wanted string) func() bool {
		return func() bool {
			deadline := time.After(time.Second / 2)
			for {
				select {
				case line := <-p.messages:
					heard = append(heard, string(line))
				case <-deadline:
					return strings.Contains(strings.Join(heard, "\n"), wanted)
				}
			}
		}
	}
	edit(t, f.newSkill(t), hear("notifications/resources/list_changed"))
	edit(t, func(round int) {
		writeFile(t, filepath.Join(f.root, "note", "extra.md"), []byte(strings.Repeat("x", round+1)))
	}, hear("notifications/resources/updated"))
	for _, line := range heard {
		if strings.Contains(line, "prompts/list_changed") || !strings.Contains(line, `"io.modelcontextprotocol/subscriptionId":5`) {
			t.Errorf("not asked for, or not tagged: %s", line)
		}
	}
	p.send([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`))
	p.send([]byte(strings.TrimSpace(pingLine)))
	p.await(func(m message) bool {
		if string(m.ID) == "5" {
			t.Error("a canceled request was answered")
		}
		return string(m.ID) == `"ping"`
	})
	heard = nil
	f.newSkill(t)(100)
	if hear("list_changed")() {
		t.Errorf("after the end of listening came %s", heard)
	}
}
