package cards

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// browser is one browser, which shows the cards of a server.
type browser struct {
	input  io.Writer
	server *server

	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
}

type reply struct {
	ID     int
	Result json.RawMessage
	Error  string
	// Read is what a card wants to know of the server.
	Read  string
	Token int
}

// newBrowser starts a browser, which ends with the test.
func newBrowser(t *testing.T, of *server) *browser {
	t.Helper()
	path, err := exec.LookPath(browserName)
	if err != nil {
		t.Fatal(err)
	}
	p := program.Start(t, program.Home(t), "node", filepath.Join("node", "browser.mjs"), path)
	b := &browser{input: p.Stdin, server: of, waiting: map[int]chan reply{}}
	go func() {
		lines := bufio.NewScanner(p.Stdout)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var r reply
			if json.Unmarshal(lines.Bytes(), &r) != nil {
				continue // what the browser says to nobody
			}
			if r.Read != "" {
				b.send(map[string]any{"method": "answer", "token": r.Token, "answer": of.ask("resources/read", map[string]any{"uri": r.Read})})
				continue
			}
			b.mu.Lock()
			if waiting := b.waiting[r.ID]; waiting != nil {
				delete(b.waiting, r.ID)
				waiting <- r
			}
			b.mu.Unlock()
		}
	}()
	return b
}

// send sends an order, which returns the channel of its reply.
func (b *browser) send(order map[string]any) <-chan reply {
	answer := make(chan reply, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	b.waiting[b.last] = answer
	order["id"] = b.last
	line, _ := json.Marshal(order)           // of what the tests made
	_, _ = b.input.Write(append(line, '\n')) // a browser that is gone answers nothing
	return answer
}

// order has something done, and decodes what comes of it.
func (b *browser) order(t *testing.T, order map[string]any, into any) {
	t.Helper()
	what, _ := order["method"].(string)
	answer := b.send(order)
	err := program.Within(t, "the browser answers "+what, func() error {
		r := <-answer
		if r.Error != "" {
			return errors.New(r.Error)
		}
		return json.Unmarshal(r.Result, into)
	})
	if err != nil {
		t.Fatalf("%s %v: %v", what, order["script"], err)
	}
}

// show is what a host shows, and how it behaves.
type show struct {
	HTML         string         `json:"html"`
	Capabilities map[string]any `json:"capabilities,omitempty"`
	Context      map[string]any `json:"context,omitempty"`
	Input        map[string]any `json:"input"`
	Result       map[string]any `json:"result"`
	// Early is sent before the answer to the handshake, Again are further answers
	// to it, and Late is sent after the result.
	Early []map[string]any `json:"early,omitempty"`
	Again []map[string]any `json:"again,omitempty"`
	Late  []map[string]any `json:"late,omitempty"`
}

// card is the card that is shown: opening another takes its place.
type card struct {
	t  *testing.T
	of *browser
}

// open shows what a tool answered on its card, in a window so wide of
// a browser with that scheme of colors. change changes what the host does.
func (b *browser) open(t *testing.T, of answered, width int, scheme string, change func(*show)) *card {
	t.Helper()
	shown := show{
		HTML: b.server.card(t, of.card), Input: of.input, Result: of.result, Capabilities: map[string]any{"serverResources": map[string]any{}},
		Context: map[string]any{"toolInfo": map[string]any{"tool": map[string]any{"name": of.tool}}},
	}
	if change != nil {
		change(&shown)
	}
	c := &card{t: t, of: b}
	b.order(t, map[string]any{"method": "open", "show": shown, "width": width, "scheme": scheme}, new(any))
	drawn := `document.querySelector("header") !== null`
	if shown.Result != nil {
		drawn += " && call.result !== null"
	}
	c.until(drawn)
	return c
}

func (c *card) do(method, script string, into any) {
	c.t.Helper()
	c.of.order(c.t, map[string]any{"method": method, "script": script}, into)
}

// eval evaluates in the card.
func (c *card) eval(script string, into any) {
	c.t.Helper()
	c.do("eval", script, into)
}

// until waits for something to be true in the card.
func (c *card) until(script string) {
	c.t.Helper()
	c.do("until", script, new(any))
}

// text is what a person reads on the card.
func (c *card) text() (text string) {
	c.t.Helper()
	c.eval(`document.getElementById("card").innerText`, &text)
	return text
}

// count counts the elements that a selector finds on the card.
func (c *card) count(selector string) (number int) {
	c.t.Helper()
	encoded, _ := json.Marshal(selector)
	c.eval("document.querySelectorAll("+string(encoded)+").length", &number)
	return number
}

// unfold unfolds all that is folded, and waits for what is read for it.
func (c *card) unfold() {
	c.t.Helper()
	c.until(`document.querySelectorAll("details:not([open])").forEach((folded) => { folded.open = true; }) ?? true`)
	c.until(`!document.body.innerText.includes("Loading…")`)
}

// looks has the host change its theme, and its window's width.
func (c *card) looks(theme string, width int) {
	c.t.Helper()
	c.of.order(c.t, map[string]any{"method": "resize", "width": width}, new(any))
	c.do("evalHost", `send({ method: "ui/notifications/host-context-changed", params: { theme: "`+theme+`" } }); document.documentElement.className = "`+theme+`"`, new(any))
	c.until(fmt.Sprintf("document.documentElement.dataset.theme === %q && window.innerWidth === %d", theme, width-26)) // its margins and borders
}

// messages are what the card said to its host of a method.
func (c *card) messages(method string) (heard []map[string]any) {
	c.t.Helper()
	encoded, _ := json.Marshal(method)
	c.do("evalHost", "heard.filter((message) => message.method === "+string(encoded)+")", &heard)
	return heard
}

// quiet checks that the card reached for nothing, broke no policy and failed nowhere.
func (c *card) quiet() {
	c.t.Helper()
	var seen struct{ Requests, Console []string }
	c.do("seen", "", &seen)
	var violations []string
	c.eval("window.violations", &violations)
	if len(seen.Requests)+len(seen.Console)+len(violations) > 0 {
		c.t.Errorf("the card asked for %q, said %q and was kept from %q", seen.Requests, seen.Console, violations)
	}
}
