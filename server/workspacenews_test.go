package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/testdata"
)

// listener hears which resources have changed, over one transport and era.
type listener struct {
	fixture *fixture
	handle  string // of the workspace that it knows
	heard   <-chan string
}

// uri names a file of the workspace.
func (l *listener) uri(file string) string { return "workspace://" + l.handle + "/" + file }

// told returns the URIs of files that it was told of, until one that changes at
// every call: notifications come in order, so all that came before are there.
func (l *listener) told(t *testing.T) []string {
	t.Helper()
	marker := l.uri("marker")
	l.write(t, "marker", time.Now().String())
	var told []string
	for {
		select {
		case line := <-l.heard:
			var m struct {
				Method string
				Params struct{ URI string }
			}
			must(t, json.Unmarshal([]byte(line), &m))
			if m.Method != "notifications/resources/updated" {
				continue
			}
			if m.Params.URI == marker {
				slices.Sort(told)
				return told
			}
			told = append(told, strings.TrimPrefix(m.Params.URI, l.uri("")))
		case <-time.After(patience):
			t.Fatalf("no notification came; before: %q", told)
		}
	}
}

// do calls a tool as somebody else who knows the workspace.
func (l *listener) do(t *testing.T, tool string, arguments map[string]any) {
	t.Helper()
	arguments["workspace"] = l.handle
	raw, err := json.Marshal(arguments)
	must(t, err)
	if called, err := l.fixture.server.Call(t.Context(), tool, raw); err != nil || called.IsError {
		t.Fatalf("%s %v: %v, %s", tool, arguments, err, called.Text)
	}
}

func (l *listener) write(t *testing.T, path, text string) {
	t.Helper()
	l.do(t, "create_file", map[string]any{"path": path, "file_text": text})
}

func (l *listener) run(t *testing.T, command string) {
	t.Helper()
	l.do(t, "bash_tool", map[string]any{"command": command})
}

// listen subscribes to some files of a new workspace.
func listen(t *testing.T, transport string, files ...string) *listener {
	t.Helper()
	f := newFixture(t, testdata.Valid(), "toolset=workspace")
	workspace, err := f.workspaces.Create("")
	must(t, err)
	l := &listener{fixture: f, handle: workspace.Handle}
	l.write(t, "there", "1")
	uris := []string{l.uri("marker"), "workspace://ws-00000000000000000000000000000000/there", "workspace://", "workspace://../x"}
	for _, file := range files {
		uris = append(uris, l.uri(file))
	}
	switch transport {
	case "HTTP legacy", "HTTP modern":
		_, era, _ := strings.Cut(transport, " ")
		l.heard = f.stream(t, f.serveHTTP(t), era, uris...)
		if era == "modern" {
			l.acknowledged(t)
		}
	default:
		l.heard = f.listenStdio(t, transport, uris)
	}
	return l
}

// acknowledged waits for the first message of a modern stream.
func (l *listener) acknowledged(t *testing.T) {
	t.Helper()
	select {
	case line := <-l.heard:
		if !strings.Contains(line, "acknowledged") {
			t.Fatalf("the first message is %s", line)
		}
	case <-time.After(patience):
		t.Fatal("no acknowledgement came")
	}
}

// listenStdio returns the messages that a stdio client gets once it has
// subscribed.
func (f *fixture) listenStdio(t *testing.T, transport string, uris []string) <-chan string {
	t.Helper()
	p := f.play(t)
	t.Cleanup(p.end)
	if transport == "stdio modern" {
		request, err := json.Marshal(rpc(5, "subscriptions/listen", modern(map[string]any{"notifications": map[string]any{"resourceSubscriptions": uris}})))
		must(t, err)
		p.send(request)
		p.await(func(m message) bool { return m.Method == "notifications/subscriptions/acknowledged" })
	} else {
		p.step(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		p.step(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		for i, uri := range uris {
			p.step(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":%q}}`, i+2, uri))
		}
	}
	heard := make(chan string, 1000)
	go func() {
		for line := range p.messages {
			heard <- string(line)
		}
	}()
	return heard
}

// TestWorkspaceNews: who subscribed hears of what runs and tools change, when
// they have ended, and of nothing else.
func TestWorkspaceNews(t *testing.T) {
	t.Parallel()
	needBash(t)
	for _, transport := range []string{"stdio legacy", "stdio modern", "HTTP legacy", "HTTP modern"} {
		t.Run(transport, func(t *testing.T) {
			l := listen(t, transport, "there", "to%20come", "dir", "./there")
			for _, step := range []struct {
				do   func()
				want string
			}{
				{func() {}, ""},
				{func() { l.write(t, "other", "x") }, ""},
				{func() { l.write(t, "there", "2") }, "./there there"},
				{func() { l.run(t, "cat there; ls") }, ""},
				{func() { l.run(t, "echo 3 >> there; echo > 'to come'") }, "./there there to%20come"},
				{func() { l.do(t, "str_replace", map[string]any{"path": "there", "old_str": "3\n"}) }, "./there there"},
				{func() { l.run(t, "mv there elsewhere") }, "./there there"},
				{func() { l.run(t, "mkdir -p dir/deep") }, "dir"},
				{func() { l.write(t, "dir/deep/file", "") }, "dir"},
				{func() { l.run(t, "rm -r dir 'to come'") }, "dir to%20come"},
			} {
				step.do()
				if got := strings.Join(l.told(t), " "); got != step.want {
					t.Errorf("was told of %q, want %q", got, step.want)
				}
			}
		})
	}
}

// TestWorkspaceNewsOfAll: a subscription to the whole workspace hears of
// everything but what is the sandbox's own.
func TestWorkspaceNewsOfAll(t *testing.T) {
	t.Parallel()
	needBash(t)
	l := listen(t, "stdio legacy", "")
	if got := l.told(t); !slices.Equal(got, []string{""}) {
		t.Errorf("of the marker was told: %q", got)
	}
	l.run(t, "echo > $HOME/x; echo > $TMPDIR/y")
	if got := l.told(t); !slices.Equal(got, []string{""}) { // of the marker
		t.Errorf("of what is private was told: %q", got)
	}
	l.run(t, "echo > x")
	for line := ""; !strings.Contains(line, "resources/updated"); {
		select {
		case line = <-l.heard:
		case <-time.After(patience):
			t.Fatal("of a new file nothing was told")
		}
	}
}

// TestWorkspaceNewsDuringRun: what a program changes is told of when it has
// ended, and not before.
func TestWorkspaceNewsDuringRun(t *testing.T) {
	t.Parallel()
	needBash(t)
	l := listen(t, "stdio legacy", "there")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.run(t, "echo begun > there; while [ ! -e stop ]; do sleep 0.01; done; echo done > there")
	}()
	// Nothing in this workspace makes the server look; somebody else's does
	// not look here.
	other, err := l.fixture.workspaces.Create("")
	must(t, err)
	dir := strings.TrimSuffix(other.Dir, other.Handle) + l.handle
	for deadline := time.Now().Add(patience); ; {
		if data, err := os.ReadFile(dir + "/there"); err == nil && string(data) == "begun\n" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the program did not begin")
		}
	}
	select {
	case line := <-l.heard:
		t.Errorf("before the end of the run came %s", line)
	default:
	}
	must(t, os.WriteFile(dir+"/stop", nil, 0o644))
	<-ended
	if got := l.told(t); !slices.Equal(got, []string{"there"}) {
		t.Errorf("was told of %q", got)
	}
}

// TestWorkspaceNewsOfTheEnd: subscribers hear that a workspace has expired,
// and reads say so.
func TestWorkspaceNewsOfTheEnd(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"stdio legacy", "stdio modern", "HTTP legacy", "HTTP modern"} {
		t.Run(transport, func(t *testing.T) {
			l := listen(t, transport, "there", "none")
			l.fixture.advance(2 * time.Hour)
			l.fixture.workspaces.Expire()
			var told []string
			for len(told) < 3 {
				select {
				case line := <-l.heard:
					if _, rest, ok := strings.Cut(line, l.uri("")); ok && strings.Contains(line, "resources/updated") {
						told = append(told, rest[:strings.IndexByte(rest, '"')])
					}
				case <-time.After(patience):
					t.Fatalf("was told of %q", told)
				}
			}
			slices.Sort(told)
			if !slices.Equal(told, []string{"marker", "none", "there"}) {
				t.Errorf("was told of %q", told)
			}
			raw, err := json.Marshal(map[string]any{"path": l.uri("there")})
			must(t, err)
			if called, err := l.fixture.server.Call(t.Context(), "view", raw); err != nil || !strings.HasPrefix(called.Text, "workspace_expired: ") {
				t.Errorf("after the end: %v, %s", err, called.Text)
			}
		})
	}
}

// TestWorkspaceNewsEnds: who has unsubscribed hears nothing more.
func TestWorkspaceNewsEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t, testdata.Valid(), "toolset=workspace")
	workspace, err := f.workspaces.Create("")
	must(t, err)
	l := &listener{fixture: f, handle: workspace.Handle}
	c := f.connect(t)
	for _, file := range []string{"a", "b"} {
		c.ask(t, "resources/subscribe", map[string]any{"uri": l.uri(file)})
	}
	c.ask(t, "resources/unsubscribe", map[string]any{"uri": l.uri("a")})
	l.write(t, "a", "1")
	l.write(t, "b", "1")
	for deadline := time.Now().Add(patience); !strings.Contains(c.transcript(), l.uri("b")); {
		if time.Now().After(deadline) {
			t.Fatal("nothing came")
		}
		c.ask(t, "ping", map[string]any{})
	}
	if strings.Contains(c.transcript(), l.uri("a")) {
		t.Errorf("after unsubscribing came:\n%s", c.transcript())
	}
}

// probed is a backend in which looking for what is missing has to wait.
type probed struct {
	sandbox.Backend
	wait func(ctx context.Context)
}

func (p probed) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	if spec.NoWait {
		p.wait(ctx)
		return sandbox.Result{}, errors.New("nothing was looked for")
	}
	return p.Backend.Run(ctx, spec)
}

// TestWorkspaceNewsBeforeAdvice: who subscribed hears of what a program that
// failed has written, before it is looked for why it did.
func TestWorkspaceNewsBeforeAdvice(t *testing.T) {
	t.Parallel()
	needBash(t)
	var c *client
	heard, probes := func() bool { return strings.Contains(c.transcript(), "notifications/resources/updated") }, 0
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "fails", "SKILL.md"), []byte("---\nname: fails\ndescription: Fails.\n---\n"))
	writeFile(t, filepath.Join(root, "fails", "fail.sh"), []byte("echo 1 > there\nexit 1\n"))
	f := newFixtureWith(t, root, func(plain sandbox.Backend) sandbox.Backend {
		return probed{plain, func(ctx context.Context) {
			for probes++; !heard() && ctx.Err() == nil; {
				time.Sleep(time.Millisecond)
			}
			if !heard() {
				t.Error("it was looked for, and no notification came")
			}
		}}
	})
	c = f.connect(t)
	handle := c.exec(t, "fails", map[string]any{"command": "true"}).Workspace
	c.ask(t, "resources/subscribe", map[string]any{"uri": "workspace://" + handle + "/there"})
	if run := c.exec(t, "fails", map[string]any{"script": "fail.sh"}); run.exit() != 1 || probes != 1 || !heard() {
		t.Errorf("exit code %d, looked for %d times, heard: %t", run.exit(), probes, heard())
	}
}
