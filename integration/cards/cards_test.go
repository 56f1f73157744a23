package cards

import (
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

var shots = flag.String("shots", "", "a directory for a picture of each card")

// samples are answers of every kind, by what they are of.
func samples(t *testing.T, s *server) map[string]answered {
	t.Helper()
	all := map[string]answered{
		"activate":      s.call(t, "activate", map[string]any{"name": "harbour-report"}),
		"activate-none": s.call(t, "activate", map[string]any{"name": "harbor-report"}),
		"read-text":     s.call(t, "readResource", map[string]any{"name": "harbour-report", "path": "references/guide.md"}),
		"read-table":    s.call(t, "readResource", map[string]any{"name": "harbour-report", "path": "references/berths.csv"}),
		"read-image":    s.call(t, "readResource", map[string]any{"name": "harbour-report", "path": "assets/plan.png"}),
		"read-list":     s.call(t, "readResource", map[string]any{"name": "harbour-report", "path": "."}),
		"run":           s.call(t, "exec", map[string]any{"name": "harbour-report", "script": "scripts/report.sh", "args": []string{"Port of Example"}}),
		"run-denied":    s.call(t, "exec", map[string]any{"name": "harbour-report", "script": "scripts/fail.sh"}),
		"run-failed":    s.call(t, "exec", map[string]any{"name": "sums", "script": "scripts/fail.sh", "args": []string{"2026"}}),
	}
	held := all["run"].result["structuredContent"].(map[string]any)["changes"].(map[string]any)["id"].(string)
	all["read-diff"] = s.call(t, "readResource", map[string]any{"name": "harbour-report", "path": "changes://" + held})
	all["run-tool"] = s.call(t, "harbour-report_berths", map[string]any{"length": 120})
	all["run-bash"] = s.call(t, "bash_tool", map[string]any{"command": "kill -TERM $$"})
	all["write"] = s.call(t, "create_file", map[string]any{"path": "docs/plan.md", "file_text": "# Plan\n\nNorth first.\n"})
	all["write-refused"] = s.call(t, "str_replace", map[string]any{"path": "berths.csv", "old_str": "east", "new_str": "west"})
	all["view"] = s.call(t, "view", map[string]any{"path": "berths.csv"})
	all["read-on"] = s.call(t, "readResource", map[string]any{"name": "harbour-report", "path": "references/berths.csv", "offset": 26})
	other := s.call(t, "exec", map[string]any{"name": "sums", "command": "echo 7 > sums.txt; echo 8 > more.txt"})
	held = other.result["structuredContent"].(map[string]any)["changes"].(map[string]any)["id"].(string)
	all["changes"] = s.call(t, "applyChanges", map[string]any{"changes": held, "paths": []string{"sums.txt", "nothing"}})
	return all
}

// fits measures a card: what is wider than the window, and texts that are hard to
// tell from what is behind them (WCAG 2.2: below 4.5 to 1).
const fits = `(() => {
  const luminance = (color) => color.slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const parsed = (color) => { const [r, g, b, a = 1] = color.match(/[\d.]+/g).map(Number); return [r, g, b, a]; };
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = parsed(getComputedStyle(at).backgroundColor);
      if (color[3] === 1) { return color; }
    }
    return [255, 0, 255, 1];
  };
  const faint = [];
  const walker = document.createTreeWalker(document.getElementById("card"), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.data.trim() === "") { continue; }
    const lights = [luminance(parsed(getComputedStyle(node.parentElement).color)), luminance(behind(node.parentElement))].sort((a, b) => b - a);
    const ratio = (lights[0] + 0.05) / (lights[1] + 0.05);
    if (ratio < 4.5) { faint.push(node.data.slice(0, 40) + " " + ratio.toFixed(2)); }
  }
  const wide = [...document.querySelectorAll("#card *")].filter((node) => !node.closest(".scroll table") && node.checkVisibility() &&
    node.getBoundingClientRect().right > window.innerWidth + 0.5).map((node) => node.outerHTML.slice(0, 80));
  return { faint, wide, scrolls: document.documentElement.scrollWidth > window.innerWidth, inner: window.innerHeight,
    height: Math.ceil(document.documentElement.getBoundingClientRect().height) };
})()`

// fitted checks that a card fits its window, can be read, and has told its size.
func (c *card) fitted() {
	c.t.Helper()
	var got struct {
		Faint, Wide   []string
		Scrolls       bool
		Inner, Height int
	}
	c.until("Math.abs(window.innerHeight - Math.ceil(document.documentElement.getBoundingClientRect().height)) < 2")
	c.eval(fits, &got)
	if len(got.Faint) > 0 || len(got.Wide) > 0 || got.Scrolls {
		c.t.Errorf("the card is %+v", got)
	}
}

// TestCards shows cards in one browser: what they show, in which windows, to which
// hosts, and what they never do.
func TestCards(t *testing.T) {
	t.Parallel()
	need(t)
	testenv.Slow(t, "starts a browser")
	files := harbour(t)
	maps.Copy(files, hostile)
	s := newServer(t, files, project)
	b := newBrowser(t, s)
	answers := samples(t, s)
	for name, test := range map[string]func(*testing.T, *browser, map[string]answered){
		"all": all, "dialogue": dialogue, "strangers": strangers, "styles": styles, "lesser hosts": lesserHosts, "texts": hostileTexts,
		"images": hostileImages, "policy": policy,
	} {
		t.Run(name, func(t *testing.T) { test(t, b, answers) })
	}
}

// all: every card says what there is to say, fits windows that are narrow or wide in
// the host's light or dark theme, with all that can be unfolded, and reaches for
// nothing.
func all(t *testing.T, b *browser, answers map[string]answered) {
	for name, of := range answers {
		t.Run(name, func(t *testing.T) {
			c := b.open(t, of, wide, "light", nil)
			c.fittedAnyhow(name)
			if c.count("details") > 0 {
				c.unfold()
				c.fittedAnyhow(name + "-unfolded")
			}
			c.says(name)
			c.drawsAnything(of)
			c.quiet()
		})
	}
}

// The host's window, of which a card has 26 pixels less.
const narrow, wide = 346, 760

// fittedAnyhow checks a card in both themes and widths.
func (c *card) fittedAnyhow(name string) {
	for _, theme := range []string{"light", "dark"} {
		for _, width := range []int{narrow, wide} {
			if *shots == "" && (theme == "light") != (width == narrow) {
				continue // each of both is enough where nobody looks
			}
			c.looks(theme, width)
			c.fitted()
			c.shoot(name, theme, width)
		}
	}
}

// shoot writes a picture, where pictures are wanted.
func (c *card) shoot(name, theme string, width int) {
	if *shots != "" {
		path := filepath.Join(*shots, fmt.Sprintf("%s-%s-%d.png", strings.ReplaceAll(name, "/", "-"), theme, width))
		c.of.order(c.t, map[string]any{"method": "shot", "path": path}, new(any))
	}
}
