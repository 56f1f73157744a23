package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

var update = flag.Bool("update", false, "write the golden files anew")

// patience bounds every wait for something that has to come.
const patience = time.Minute

// TestWire plays the conversations in testdata/rpc over stdio.
//
// An archive holds skills/ (the root), client (a step a line) and server (what
// comes back, in order). A step is a JSON-RPC message, whose answer is
// awaited, or an object with one of the keys that begin with "@":
//
//	{"@write": PATH, "text": …}     write a file of the root; or "hex": …
//	{"@remove": PATH}               remove a file or directory of the root
//	{"@symlink": PATH, "to": …}     make a link
//	{"@fifo": PATH}                 make a FIFO
//	{"@sparse": PATH, "size": N}    make a file of N bytes
//	{"@advance": DURATION}          advance the clock of workspaces
//	{"@lose": "workspaces"}         remove the directory of workspaces
//	{"@lose": "audit"}              put a file in the place of the audit log
//	{"@hold": "workspace"}          take a workspace as another session would
//	{"@raw": TEXT} {"@rawhex": …}   send bytes as they are; the answer has no id
//	{"@send": MESSAGE}              send without waiting
//	{"@await": METHOD}              wait for a notification; others are dropped
//	{"@answer": ID}                 wait for the answer to an @send
//
// WORKSPACE stands for the handle that the server gave last, and STATE for the
// requestState. CHANGES1 and UNDO1 stand for the first id of a change set, of an
// apply, that it gave, and so on. The section options holds what newFixture
// takes; with the option project, project/ and share/ are what the user has in
// these, and steps name a file there by "in": "project".
func TestWire(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/rpc/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			playArchive(t, file)
		})
	}
}

func playArchive(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	root := t.TempDir()
	for _, part := range archive.Files {
		sections[part.Name] = string(part.Data)
		if name, ok := strings.CutPrefix(part.Name, "skills/"); ok {
			writeFile(t, filepath.Join(root, name), part.Data)
		}
	}
	options := strings.Fields(sections["options"])
	if strings.Contains(sections["options"], "project=") && runtime.GOOS != "linux" {
		t.Skip("only Linux has change sets")
	}
	f := newFixture(t, root, options...)
	for _, part := range archive.Files {
		if f.project != "" && (strings.HasPrefix(part.Name, "project/") || strings.HasPrefix(part.Name, "share/")) {
			writeFile(t, filepath.Join(filepath.Dir(f.project), part.Name), part.Data)
		}
	}
	play := f.play(t)
	for line := range strings.Lines(sections["client"]) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			play.step(line)
		}
	}
	play.end()
	if !*update {
		if diff := cmp.Diff(sections["server"], play.seen.String()); diff != "" {
			t.Errorf("what came back differs from the golden file (-want +got; -update writes it):\n%s", diff)
		}
		return
	}
	archive.Files = slices.DeleteFunc(archive.Files, func(part txtar.File) bool { return part.Name == "server" })
	archive.Files = append(archive.Files, txtar.File{Name: "server", Data: play.seen.Bytes()})
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// player is one client of one stdio server.
type player struct {
	t        *testing.T
	fixture  *fixture
	input    *io.PipeWriter
	messages chan []byte
	served   chan error
	seen     bytes.Buffer
	handle   string
	state    string
	ids      map[string]string // of changes and applies, by how they are written down, and the other way round
	last     string            // the last step
}

// play starts a server on pipes.
func (f *fixture) play(t *testing.T) *player {
	input, feed := io.Pipe()
	output, sink := io.Pipe()
	p := &player{t: t, fixture: f, input: feed, messages: make(chan []byte, 1000), served: make(chan error, 1), ids: map[string]string{}}
	go func() {
		p.served <- f.server.ServeStdio(context.WithoutCancel(t.Context()), input, sink)
		sink.Close()
	}()
	go func() {
		defer close(p.messages)
		scanner := bufio.NewScanner(output)
		scanner.Buffer(nil, 64<<20)
		for scanner.Scan() {
			p.messages <- bytes.Clone(scanner.Bytes())
		}
	}()
	return p
}

// end closes the input, and checks that the server ends for it.
func (p *player) end() {
	p.input.Close()
	for range p.messages {
	}
	if err := <-p.served; err != nil {
		p.t.Errorf("serving ended with %v", err)
	}
}

func (p *player) step(line string) {
	line = strings.NewReplacer("WORKSPACE", p.handle, "STATE", p.state, "PROJECT", p.fixture.project, "SHARE", p.fixture.shared).Replace(line)
	line = namePattern.ReplaceAllStringFunc(line, func(name string) string { return p.ids[name] })
	p.last = line
	var step struct {
		ID      json.RawMessage `json:"id"`
		In      string          `json:"in"`
		Write   string          `json:"@write"`
		Text    string          `json:"text"`
		Hex     string          `json:"hex"`
		Remove  string          `json:"@remove"`
		Symlink string          `json:"@symlink"`
		To      string          `json:"to"`
		FIFO    string          `json:"@fifo"`
		Sparse  string          `json:"@sparse"`
		Size    int64           `json:"size"`
		Advance string          `json:"@advance"`
		Lose    string          `json:"@lose"`
		Hold    string          `json:"@hold"`
		Raw     *string         `json:"@raw"`
		RawHex  string          `json:"@rawhex"`
		Send    json.RawMessage `json:"@send"`
		Await   string          `json:"@await"`
		Answer  json.RawMessage `json:"@answer"`
	}
	if err := json.Unmarshal([]byte(line), &step); err != nil {
		p.t.Fatalf("step %s: %v", line, err)
	}
	path := func(name string) string {
		if step.In != "" {
			return filepath.Join(filepath.Dir(p.fixture.project), step.In, name)
		}
		return filepath.Join(p.fixture.root, name)
	}
	switch {
	case step.Write != "":
		data, err := hex.DecodeString(step.Hex)
		must(p.t, err)
		writeFile(p.t, path(step.Write), append([]byte(step.Text), data...))
	case step.Remove != "":
		must(p.t, os.RemoveAll(path(step.Remove)))
	case step.Symlink != "":
		must(p.t, os.Symlink(step.To, path(step.Symlink)))
	case step.FIFO != "":
		makeFIFO(p.t, path(step.FIFO))
	case step.Sparse != "":
		must(p.t, os.WriteFile(path(step.Sparse), nil, 0o644))
		must(p.t, os.Truncate(path(step.Sparse), step.Size))
	case step.Advance != "":
		duration, err := time.ParseDuration(step.Advance)
		must(p.t, err)
		p.fixture.advance(duration)
	case step.Lose == "audit":
		p.fixture.loseAudit(p.t)
	case step.Lose != "":
		must(p.t, os.RemoveAll(p.fixture.workspaceBase))
	case step.Hold != "":
		workspace, err := p.fixture.workspaces.Create("")
		must(p.t, err)
		p.t.Cleanup(workspace.Acquire())
	case step.Raw != nil:
		p.send([]byte(*step.Raw))
		p.await(func(m message) bool { return string(m.ID) == "null" })
	case step.RawHex != "":
		raw, err := hex.DecodeString(step.RawHex)
		must(p.t, err)
		p.send(raw)
		p.await(func(m message) bool { return string(m.ID) == "null" })
	case step.Send != nil:
		p.send(step.Send)
	case step.Await != "":
		p.await(func(m message) bool { return m.Method == step.Await })
	case step.Answer != nil:
		p.await(func(m message) bool { return m.Method == "" && string(m.ID) == string(step.Answer) })
	default:
		p.send([]byte(line))
		if step.ID != nil {
			p.await(func(m message) bool { return m.Method == "" && string(m.ID) == string(step.ID) })
		}
	}
}

func (p *player) send(line []byte) {
	if _, err := p.input.Write(append(bytes.Clone(line), '\n')); err != nil {
		p.t.Fatalf("the server does not read any more: %v", err)
	}
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// await takes messages until one is what is waited for, and notes that one.
func (p *player) await(wanted func(message) bool) {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case line, ok := <-p.messages:
			var m message
			if !ok || json.Unmarshal(line, &m) != nil {
				p.t.Fatalf("instead of an answer came %q", line)
			}
			if wanted(m) {
				p.note(line)
				return
			}
		case <-deadline:
			p.t.Fatalf("no answer came to %s, after %s", p.last, p.seen.Bytes()[max(0, p.seen.Len()-1500):])
		}
	}
}

var (
	handlePattern   = regexp.MustCompile(`ws-[0-9a-z]{20,}`)
	durationPattern = regexp.MustCompile(`("durationMs": |"cpuMs": |killed after |, )\d+( ms\b|,)`)
	// What yes printed until it was killed, and where the whole of it is.
	yesPattern   = regexp.MustCompile(`(?:y\\n){20,}`)
	gapPattern   = regexp.MustCompile(`\d+ bytes left out`)
	spillPattern = regexp.MustCompile(`stdout-[A-Z0-9]+\.log`)
	setPattern   = regexp.MustCompile(`\bcs-[0-9a-f]{16}-[0-9a-f]{8}\b`)
	undoPattern  = regexp.MustCompile(`\bap-[0-9a-f]{16}\b`)
	namePattern  = regexp.MustCompile(`\b(?:CHANGES|UNDO)[0-9]+\b`)
	whenPattern  = regexp.MustCompile(`applied already, at [0-9: -]{19}`)
	copyPattern  = regexp.MustCompile(`/[^" ]*/skills-mcp-[a-z]+-[0-9]+/[^" :\\]*`)
	statePattern = regexp.MustCompile(`"requestState": ?"([0-9A-Za-z_-]{150,})"`)
)

// note writes a message down in a form that does not vary.
func (p *player) note(line []byte) {
	if handle := handlePattern.Find(line); handle != nil {
		p.handle = string(handle)
	}
	if state := statePattern.FindSubmatch(line); state != nil {
		p.state = string(state[1])
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	must(p.t, decoder.Decode(&value))
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	must(p.t, encoder.Encode(value))
	plain := handlePattern.ReplaceAll(text.Bytes(), []byte("ws-HANDLE"))
	plain = durationPattern.ReplaceAll(plain, []byte("${1}0$2"))
	plain = yesPattern.ReplaceAll(plain, []byte(`y\n (and so on) \n`))
	plain = gapPattern.ReplaceAll(plain, []byte("N bytes left out"))
	plain = statePattern.ReplaceAll(plain, []byte(`"requestState": "STATE"`))
	plain = p.nameIDs(plain)
	plain = spillPattern.ReplaceAll(plain, []byte("stdout-ID.log"))
	p.seen.Write(plain)
}

// nameIDs writes ids of changes and applies, and the user's directories, in a
// form that does not vary.
func (p *player) nameIDs(text []byte) []byte {
	for kind, pattern := range map[string]*regexp.Regexp{"CHANGES": setPattern, "UNDO": undoPattern} {
		text = pattern.ReplaceAllFunc(text, func(id []byte) []byte {
			for n := 1; p.ids[string(id)] == ""; n++ {
				if name := kind + strconv.Itoa(n); p.ids[name] == "" {
					p.ids[string(id)], p.ids[name] = name, string(id)
				}
			}
			return []byte(p.ids[string(id)])
		})
	}
	text = whenPattern.ReplaceAll(text, []byte("applied already, at TIME"))
	if p.fixture.project != "" {
		text = bytes.ReplaceAll(text, []byte(filepath.Dir(p.fixture.project)), []byte("/home/user"))
		text = copyPattern.ReplaceAll(text, []byte("/copy"))
	}
	return text
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, data, 0o644))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// elsewhere says of codes why no conversation has them; other tests do.
var elsewhere = map[failure.Code]string{
	failure.ExecutionCanceled: "a call that was canceled has no answer on stdio",
	failure.ContainerError:    "it takes a container that is removed while its program runs",
	failure.ChangesBusy:       "a call waits for the run until it is canceled",
	failure.ChangesExpired:    "change sets are removed when a server starts",
	failure.SecretTimeout:     "a source has half a minute to answer",
}

// TestWireCodes checks that every code a client can see is in a conversation.
func TestWireCodes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/rpc/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		must(t, err)
		for _, part := range archive.Files {
			if part.Name == "server" {
				all = append(all, part.Data...)
			}
		}
	}
	for code := range failure.Codes {
		if why := elsewhere[code]; why == "" && !bytes.Contains(all, []byte(code)) {
			t.Errorf("no conversation shows the code %s", code)
		}
	}
}
