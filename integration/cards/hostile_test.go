package cards

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// markup is what would be another thing than text, were it markup.
const markup = `<img src=x onerror="window.taken = 1"></script><script>window.taken = 1</script></pre></style><a href="javascript:window.taken = 1">link</a>`

// hostile is a skill all of whose words are markup.
var hostile = map[string]string{
	"evil/SKILL.md": "---\nname: evil\ndescription: '" + markup + "'\nlicense: 'javascript:window.taken = 1'\ncompatibility: '" + markup + "'\n---\n" + markup + "\n",
	"evil/scripts/print.sh": `#!/bin/sh
printf '%s\n' "$1"
printf 'red \033[31mtext\033[0m, \033[8mconcealed\033[0m, up \033[1A\033[2K, title \033]0;owned\007\n'
printf 'moc.elpmaxe/\342\200\256//:sptth zero\342\200\213width tag\363\240\201\201 cr\rgone\n'
printf '%s\n' "$1" >&2
printf '%s' "$1" > '<img src=x onerror="window.taken = 1">.csv'
printf '<svg xmlns="http://www.w3.org/2000/svg" onload="window.taken = 1"><script>window.taken = 1</script><image href="http://evil.test/"/></svg>' > drawn.svg
printf '<script>window.taken = 1</script>' > page.html
printf '\211PNG\r\n\032\n<script>window.taken = 1</script>' > broken.png
`,
	"evil/scripts/long.sh": "#!/bin/sh\nhead -c 3000000 /dev/zero | tr '\\0' 'm'\n",
	"evil/<b>bold<b>.txt":  markup,
	"evil/table.csv":       "=HYPERLINK(\"javascript:window.taken = 1\")," + strings.ReplaceAll(markup, `"`, `""`) + "\n" + strings.Repeat("a,b\n", 5000) + strings.Repeat("x,", 500),
	"evil/drawn.svg":       `<svg xmlns="http://www.w3.org/2000/svg" onload="window.taken = 1"><script>window.taken = 1</script></svg>`,
	"evil/x.diff":          "--- a\n+++ b\n",
}

// inert checks that nothing of what is shown became anything but text.
func (c *card) inert() {
	c.t.Helper()
	c.unfold()
	var taken any
	c.eval(`new Promise((done) => setTimeout(() => done(window.taken ?? null)))`, &taken)
	if taken != nil {
		c.t.Error("a script of others ran")
	}
	for _, selector := range []string{"a", "script:not(body > script:last-of-type)", "svg", "iframe", "form", "#card style", "b", "[href]", "[onerror]", "[onload]", `img:not([src^="data:image/"])`} {
		if n := c.count(selector); n > 0 {
			c.t.Errorf("%d elements are %s", n, selector)
		}
	}
	for _, method := range []string{"ui/open-link", "ui/message", "ui/update-model-context", "ui/download-file", "tools/call"} {
		if said := c.messages(method); len(said) > 0 {
			c.t.Errorf("the card said %v", said)
		}
	}
	for _, read := range c.messages("resources/read") {
		if uri, _ := read["params"].(map[string]any)["uri"].(string); !strings.HasPrefix(uri, "changes://") && !strings.HasPrefix(uri, "workspace://") {
			c.t.Errorf("the card reads %q", uri)
		}
	}
	c.fitted()
	c.quiet()
}

// hostileTexts: whatever skills, programs and files say is text on every card,
// of which nothing is hidden.
func hostileTexts(t *testing.T, b *browser, _ map[string]answered) {
	s := b.server
	run := func(arguments map[string]any) answered {
		arguments["name"] = "evil"
		return s.call(t, "exec", arguments)
	}
	read := func(path string) answered {
		return s.call(t, "readResource", map[string]any{"name": "evil", "path": path})
	}
	print := run(map[string]any{"script": "scripts/print.sh", "args": []string{markup}, "cwd": "workspace"})
	held := run(map[string]any{"command": "echo one > notes.txt; printf '%s' '" + markup + "' > '<i>.md'; printf -- 'x\\n++ b/y\\n@@ -1 +1 @@\\n' > z.txt"})
	for _, test := range []struct {
		name string
		of   answered
		want []string
	}{
		{"activate", s.call(t, "activate", map[string]any{"name": "evil"}), []string{markup, "javascript:window.taken", "<b>bold<b>.txt"}},
		{"unknown skill", s.call(t, "activate", map[string]any{"name": markup}), []string{markup}},
		{"output", print, []string{
			markup, `red text, concealed, up \u{1b}[1A\u{1b}[2K, title \u{1b}]0;owned\u{7}`, `moc.elpmaxe/\u{202e}//:sptth zero\u{200b}width tag\u{e0041} cr\u{d}gone`,
			`<img src=x onerror="window.taken = 1">.csv`, "<script>window.taken = 1</script>", "It is no image that can be shown.",
		}},
		{"held", held, []string{"<i>.md", "--- a/x\n", "+++ b/y\n", "+@@ -1 +1 @@", "+" + markup}},
		{"denied", run(map[string]any{"script": markup}), []string{markup}},
		{"long", run(map[string]any{"script": "scripts/long.sh"}), []string{"bytes left out"}},
		{"table", read("table.csv"), []string{`=HYPERLINK("javascript:window.taken = 1")`, "The first 200 rows", "<img src=x"}},
		{"svg", read("drawn.svg"), []string{`onload="window.taken = 1"`}},
		{"markup", read("<b>bold<b>.txt"), []string{markup, "<b>bold<b>.txt"}},
		{"missing", read(markup), []string{markup[:20]}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := b.open(t, test.of, narrow, "light", nil)
			c.inert()
			c.shoot("hostile "+test.name, "light", narrow)
			text := c.text()
			for _, want := range test.want {
				if !strings.Contains(text, want) {
					t.Errorf("the card does not say %q, but %.3000q", want, text)
				}
			}
			if test.name == "held" && (c.count(".diff .file") != 3 || c.count(".diff .hunk") != 3) {
				t.Errorf("a line of a file is taken for a part of the diff: %s", text)
			}
		})
	}
}

// hostileImages: what is no image of pixels is none, whatever it says it is.
func hostileImages(t *testing.T, b *browser, _ map[string]answered) {
	of := b.server.call(t, "readResource", map[string]any{"name": "evil", "path": "drawn.svg"})
	drawing := base64.StdEncoding.EncodeToString([]byte(hostile["evil/drawn.svg"]))
	c := b.open(t, of, narrow, "light", func(shown *show) {
		shown.Result = map[string]any{"_meta": map[string]any{"path": "x"}, "content": []any{
			map[string]any{"type": "image", "mimeType": "image/svg+xml", "data": drawing},
			map[string]any{"type": "image", "mimeType": `image/png" onerror="window.taken = 1`, "data": drawing},
			map[string]any{"type": "resource", "resource": map[string]any{"mimeType": "image/svg+xml", "blob": drawing}},
			map[string]any{"type": "image", "mimeType": "image/png", "data": `" onerror="window.taken = 1`},
			map[string]any{"type": "image", "mimeType": "image/png", "data": `PHN2Zy8+;,<script>`},
			map[string]any{"type": "resource", "resource": map[string]any{"mimeType": "text/html", "blob": drawing}},
			map[string]any{"type": "resource_link", "uri": "javascript:window.taken = 1", "name": "link", "mimeType": "text/html"},
		}}
	})
	c.until(`document.querySelectorAll("img").length === 0`)
	c.inert()
}

// policy: what a card's own script must not do it cannot, either.
func policy(t *testing.T, b *browser, all map[string]answered) {
	c := b.open(t, all["activate"], wide, "light", nil)
	for attempt, want := range map[string]string{
		`document.body.innerHTML = "<b>bold</b>"`:                                                          "require-trusted-types-for",
		`document.body.append(Object.assign(document.createElement("img"), { src: "http://a.test/" }))`:    "img-src",
		`fetch("http://b.test/").catch(() => {})`:                                                          "connect-src",
		`document.body.append(Object.assign(document.createElement("iframe"), { src: "http://c.test/" }))`: "frame-src",
		`document.body.append(Object.assign(document.createElement("style"), { textContent: "b {}" }))`:    "style-src",
		`navigator.sendBeacon("http://d.test/", "x")`:                                                      "connect-src",
	} {
		var broken []string
		c.eval(fmt.Sprintf(`(async () => { window.violations.length = 0; try { await (%s); } catch {} })()`, attempt), new(any))
		c.until("window.violations.length > 0") // some come late
		c.eval("window.violations", &broken)
		if !strings.HasPrefix(broken[0], want) {
			t.Errorf("%s breaks %q, want %s", attempt, broken, want)
		}
	}
	var seen struct{ Requests []string }
	c.do("seen", "", &seen)
	if len(seen.Requests) > 0 {
		t.Errorf("the card reached for %q", seen.Requests)
	}
}

// drawsAnything checks that the card takes every value for what it may be, whatever
// takes the place of a part of its answer.
func (c *card) drawsAnything(of answered) {
	c.t.Helper()
	encoded, err := json.Marshal(of.result)
	if err != nil {
		c.t.Fatal(err)
	}
	var faults []string
	c.eval(`(() => {
		const faults = [];
		const whole = `+string(encoded)+`;
		const odd = [null, 7, -1, 1e99, true, "<b>", [], [null], [[]], {}, { path: 7 }, [7, "x", { of: [] }]];
		const walk = (value, put) => {
			for (const other of odd) {
				put(other);
				try {
					render({ input: call.input, result: whole, cancelled: null });
				} catch (error) {
					faults.push(String(error) + " for " + JSON.stringify(whole).slice(0, 300));
				}
			}
			put(value);
			if (value !== null && typeof value === "object") {
				for (const key of Object.keys(value)) { walk(value[key], (other) => { value[key] = other; }); }
			}
		};
		for (const key of Object.keys(whole)) { walk(whole[key], (other) => { whole[key] = other; }); }
		return faults.slice(0, 5);
	})()`, &faults)
	for _, fault := range faults {
		c.t.Errorf("the card cannot be drawn: %s", fault)
	}
}
