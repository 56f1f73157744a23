package cards

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// said is what a card says of each sample.
var said = map[string][]string{
	"activate": {
		"harbour-report", "Writes reports on berths", "$SKILL_DIR", "Bash(scripts/report.sh:*)", "Anything else is denied.", "unsafe-host, tier none",
		"needs sh and awk", "Apache-2.0", "7 files", "references/berths.csv", "1 tool", "Lists the berths", `"type": "number"`, "Run `scripts/report.sh`",
	},
	"activate-none": {"Not activated", "skill_not_found", "harbor-report"},
	"read-text":     {"references/guide.md", "text/markdown", "112.0 kB", "bytes 0 to", "In part", "Tides are in metres"},
	"read-table":    {"text/csv", "berth\tlength m\tdepth\tnote", "north 1\t182.5\t9.4\tfenders new, 2025", `"reserved"`},
	"read-image":    {"assets/plan.png", "image/png"},
	"read-list":     {"Directory", "harbour-report/", "scripts/report.sh"},
	"read-diff":     {"text/x-diff", "-north,180\n+north 1,182.5"},
	"run": {
		`scripts/report.sh "Port of Example"`, "Exit 0", "of processor time", "Output", "port: Port of Example", "arrivals.csv", "Boreas\t07:45", "plan.png",
		"5 changes held, not in ", "docs/report.md", "old.txt", "-north,180\n+north 1,182.5", "skills-mcp apply cs-", "Nothing is isolated",
	},
	"run-denied":    {"Not run", "permission_denied"},
	"run-failed":    {"Exit 3", "execution_failed", "reading berths.csv", "line 14: depth is not a number"},
	"run-tool":      {"harbour-report_berths", "Exit 0", `"length": 120`, "port: 120"},
	"run-bash":      {"kill -TERM $$", "Signal", "execution_failed"},
	"write":         {"docs/plan.md", "Held", "text/markdown", "2 changes held", "+North first."},
	"write-refused": {"Not done", "berths.csv", "does not occur"},
	"read-on":       {"In part", "bytes 26 to 112", "north 1,182.5,9.4,"},
	"view":          {"berths.csv", "north,180"},
	"changes":       {"1 applied", "sums.txt", "skills-mcp undo ", "nothing is held there", "1 change held", "more.txt", "+8"},
}

// says checks what an unfolded card says.
func (c *card) says(name string) {
	c.t.Helper()
	text := c.text()
	for _, want := range said[name] {
		if !strings.Contains(text, want) {
			c.t.Errorf("the card does not say %q, but %q", want, text)
		}
	}
	if images := map[string]int{"read-image": 1, "run": 2, "run-tool": 2}[name]; c.count("img") != images {
		c.t.Errorf("the card has %d images", c.count("img"))
	}
}

// dialogue: a card speaks as the extension says, of itself and of its size.
func dialogue(t *testing.T, b *browser, all map[string]answered) {
	c := b.open(t, all["run"], wide, "light", nil)
	greeting, _ := c.messages("ui/initialize")[0]["params"].(map[string]any)
	info, _ := greeting["appInfo"].(map[string]any)
	if greeting["protocolVersion"] != "2026-01-26" || info["name"] != "skills-mcp" || info["version"] == "" || greeting["appCapabilities"] == nil {
		t.Errorf("the card began with %v", greeting)
	}
	if said := c.messages("ui/notifications/initialized"); len(said) != 1 {
		t.Errorf("the card has begun %d times", len(said))
	}
	c.fitted()
	before := len(c.messages("ui/notifications/size-changed"))
	c.unfold()
	c.fitted()
	if sizes := c.messages("ui/notifications/size-changed"); len(sizes) <= before || sizes[0]["params"].(map[string]any)["width"] != float64(wide-26) {
		t.Errorf("the card told the sizes %v", sizes)
	}
	if reads := c.messages("resources/read"); len(reads) != 4 {
		t.Errorf("the card read %v", reads)
	}
	c.tell(`{ id: 11, method: "ping" }`)
	c.tell(`{ id: 12, method: "tools/list", params: {} }`)
	c.tell(`{ id: 13, method: "ui/resource-teardown", params: { reason: "over" } }`)
	c.tell(`{ id: 14, method: "ping" }`)
	c.tell(`{ method: "ui/notifications/tool-cancelled", params: { reason: "too late" } }`)
	if got := fmt.Sprint(c.answers()); got != "map[11:result 12:-32601 13:result]" {
		t.Errorf("the card answered %s", got)
	}
	c.quiet()
}

// tell has the host say something to the card, and waits until that is heard.
func (c *card) tell(message string) {
	c.t.Helper()
	c.do("evalHost", "send("+message+")", new(any))
	c.settle()
}

// settle waits until the card has heard what was said to it: messages come in turn,
// the last to a listener of ours.
func (c *card) settle() {
	c.t.Helper()
	c.eval(`window.addEventListener("message", (event) => { window.settled ||= event.data?.last === true; }) ?? (window.settled = false)`, new(any))
	c.do("evalHost", `proxy.contentWindow.postMessage({ last: true }, "*")`, new(any))
	c.until("window.settled")
}

// answers are what the card answered the host, by the ids of requests.
func (c *card) answers() map[string]string {
	c.t.Helper()
	var heard []struct {
		ID     json.Number
		Result any
		Error  struct{ Code int }
	}
	c.do("evalHost", "heard.filter((message) => message.method === undefined)", &heard)
	answers := map[string]string{}
	for _, answer := range heard {
		answers[answer.ID.String()] = "result"
		if answer.Result == nil {
			answers[answer.ID.String()] = fmt.Sprint(answer.Error.Code)
		}
	}
	return answers
}

// strangers: only the window that a card is framed in is heard, only after the
// handshake, and a request has one answer.
func strangers(t *testing.T, b *browser, all map[string]answered) {
	forged := map[string]any{"content": []any{map[string]any{"type": "text", "text": "forged"}}, "structuredContent": map[string]any{
		"status": "exited", "exitCode": 0, "stdout": "forged", "durationMs": 1,
	}}
	result := map[string]any{"method": "ui/notifications/tool-result", "params": forged}
	c := b.open(t, all["run-failed"], wide, "light", func(shown *show) {
		shown.Early = []map[string]any{result, {"method": "ui/notifications/host-context-changed", "params": map[string]any{"theme": "dark"}}}
		shown.Again = []map[string]any{
			{"result": map[string]any{"hostCapabilities": map[string]any{}, "hostContext": map[string]any{"theme": "dark"}}},
			{"error": map[string]any{"code": -1, "message": "forged"}},
		}
		shown.Late = []map[string]any{
			{"jsonrpc": "1.0", "method": "ui/notifications/tool-result", "params": forged},
			{"id": 999, "result": forged}, {"id": nil, "result": forged}, {"method": 7, "params": forged},
			{"method": "ui/notifications/unknown", "params": forged}, {"method": "ui/notifications/tool-input-partial", "params": map[string]any{"arguments": map[string]any{"script": "forged"}}},
		}
	})
	encoded, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": "ui/notifications/tool-result", "params": forged})
	if err != nil {
		t.Fatal(err)
	}
	c.do("evalHost", "frames[0].frames[0].postMessage("+string(encoded)+`, "*")`, new(any)) // not by way of the parent
	c.eval("window.postMessage("+string(encoded)+`, "*")`, new(any))                        // nor by its own
	for _, odd := range []string{"null", `"text"`, "7", "[]", "{ data: [] }"} {
		c.do("evalHost", "proxy.contentWindow.postMessage("+odd+`, "*")`, new(any))
	}
	c.settle()
	if text := c.text(); strings.Contains(text, "forged") || !strings.Contains(text, "Exit 3") {
		t.Errorf("the card says %q", text)
	}
	var theme string
	if c.eval(`document.documentElement.dataset.theme ?? "none"`, &theme); theme != "none" {
		t.Errorf("the card has the theme %s", theme)
	}
	c.quiet()
}

// styles: a host's colors are taken where they are all there, its theme always, and
// without one the browser's.
func styles(t *testing.T, b *browser, all map[string]answered) {
	whole := map[string]any{"--color-border-primary": "#123456", "--color-ring-primary": "#123456", "--font-sans": "serif", "--font-mono": "url(http://evil.test/)"}
	for _, name := range []string{"primary", "secondary", "info", "danger", "success", "warning"} {
		whole["--color-background-"+name], whole["--color-text-"+name] = "light-dark(rgb(250, 240, 230), rgb(10, 20, 30))", "light-dark(rgb(10, 20, 30), rgb(250, 240, 230))"
	}
	part := map[string]any{"--color-text-primary": "rgb(255, 255, 255)", "--font-sans": "serif"}
	for _, test := range []struct {
		name, scheme string
		context      map[string]any
		want         string
	}{
		{"browser's", "dark", nil, "rgb(238, 236, 230) on rgb(29, 29, 27)"},
		{"host's theme", "light", map[string]any{"theme": "dark"}, "rgb(238, 236, 230) on rgb(29, 29, 27)"},
		{"no theme", "light", map[string]any{"theme": "<b>"}, "rgb(31, 30, 27) on rgb(255, 255, 255)"},
		{"all colors", "light", map[string]any{"theme": "dark", "styles": map[string]any{"variables": whole}}, "rgb(250, 240, 230) on rgb(10, 20, 30)"},
		{"some colors", "light", map[string]any{"styles": map[string]any{"variables": part}}, "rgb(31, 30, 27) on rgb(255, 255, 255)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := b.open(t, all["changes"], wide, test.scheme, func(shown *show) { shown.Context = test.context })
			var got string
			c.eval(`getComputedStyle(document.body).color + " on " + getComputedStyle(document.documentElement).backgroundColor`, &got)
			if got != test.want {
				t.Errorf("the card is %s, want %s", got, test.want)
			}
			c.fitted()
			c.quiet()
		})
	}
}

// lesserHosts: a card is of use where the host reads nothing for it, has no result
// yet, has cancelled the call, or keeps the structure to itself.
func lesserHosts(t *testing.T, b *browser, all map[string]answered) {
	for name, test := range map[string]struct {
		change func(*show)
		want   string
		folded int
	}{
		"reads nothing": {func(shown *show) { shown.Capabilities = nil }, "5 changes held", 1},
		"no result":     {func(shown *show) { shown.Result = nil }, "Running", 0},
		"cancelled": {func(shown *show) {
			shown.Result = nil
			shown.Late = []map[string]any{{"method": "ui/notifications/tool-cancelled", "params": map[string]any{"reason": "The user pressed stop."}}}
		}, "The user pressed stop.", 0},
		"text alone": {func(shown *show) {
			shown.Result = map[string]any{"content": all["run"].result["content"]}
		}, "exit code 0", 0},
		"declined": {func(shown *show) {
			shown.Result = map[string]any{"isError": true, "structuredContent": map[string]any{
				"status": "declined", "exitCode": nil, "approval": map[string]any{"answer": "declined", "rule": "approval.runs", "notice": "Ask what to do instead."},
			}}
		}, "You declined it. Ask what to do instead.", 1},
		"nothing": {func(shown *show) { shown.Result, shown.Input = map[string]any{}, nil }, "Not run", 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := b.open(t, all["run"], narrow, "light", test.change)
			c.until(fmt.Sprintf("document.body.innerText.includes(%q)", test.want))
			if n := c.count("details"); n != test.folded {
				t.Errorf("%d parts can be unfolded", n)
			}
			c.fitted()
			c.quiet()
		})
	}
}
