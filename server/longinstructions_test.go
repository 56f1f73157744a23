package server_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/server"
)

// readOn finds where to read on in what an activation shows of instructions.
var readOn = regexp.MustCompile(`\n\n\[Truncated: .* "path": "SKILL.md", "offset": (\d+)\}\.(.*)\]`)

// instructionsOf returns what an activation shows of instructions, and where to read
// on, which is 0 where it shows all.
func instructionsOf(t testing.TB, text string) (shown, notice string, rest int) {
	t.Helper()
	head, body, found := strings.Cut(text, "</skill_runtime>\n\n")
	if !found || !strings.HasPrefix(head, `<skill_content name=`) || strings.Count(text, "</skill_content>") != 1 {
		t.Fatalf("not what the server says and then the instructions: %.500q", text)
	}
	body = strings.TrimSuffix(body, "\n</skill_content>")
	at := readOn.FindStringSubmatchIndex(body)
	if at == nil {
		return body, "", 0
	}
	rest, err := strconv.Atoi(body[at[2]:at[3]])
	must(t, err)
	return body[:at[0]] + "\n", body[at[4]:at[5]], rest
}

// TestLongInstructions: what is too long to show at once is cut at a line, after
// what the server says of the skill, and what is not shown can be read.
func TestLongInstructions(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const front = "\ufeff---\r\nname: long\r\ndescription: Has much to say.\r\n---\r\n"
	var body strings.Builder
	for i := 0; body.Len() < 320_000; i++ {
		fmt.Fprintf(&body, "%d. Größe für $ARGUMENTS.\n", i)
	}
	writeFile(t, filepath.Join(root, "long", "SKILL.md"), []byte(front+body.String()))
	name := filepath.Join(t.TempDir(), "log")
	log, err := os.Create(name)
	must(t, err)
	defer log.Close()
	c := newFixtureOf(t, root, func(opts *server.Options) { opts.Logger = slog.New(slog.NewTextHandler(log, nil)) }).connect(t)
	activated := c.call(t, "activate", map[string]any{"name": "long", "arguments": "$ARGUMENTS"})
	shown, notice, rest := instructionsOf(t, activated.text())
	if !activated.Meta.Truncated || activated.Meta.NextOffset != rest {
		t.Errorf("the text goes on at %d, and programs are told %+v", rest, activated.Meta)
	}
	if len(shown) > 200_000 || len(shown) < 199_000 || !strings.Contains(notice, "$ARGUMENTS in there is what the user said.") {
		t.Errorf("%d bytes are shown, with the notice %q", len(shown), notice)
	}
	for rest > 0 {
		a := c.call(t, "readResource", map[string]any{"name": "long", "path": "SKILL.md", "offset": rest})
		shown += a.Content[0].Text
		if rest = 0; len(a.Content) > 1 {
			_, err := fmt.Sscanf(a.Content[1].Text[strings.Index(a.Content[1].Text, "Read on"):], `Read on with "offset": %d`, &rest)
			must(t, err)
		}
		if a.Meta.Truncated != (rest > 0) || a.Meta.NextOffset != rest || a.Meta.Path != "SKILL.md" || a.Meta.Size != int64(len(front)+body.Len()) {
			t.Errorf("the file goes on at %d, and programs are told %+v", rest, a.Meta)
		}
	}
	c.call(t, "activate", map[string]any{"name": "long"})
	said, err := os.ReadFile(name)
	must(t, err)
	if n := strings.Count(string(said), "longer than what is shown"); n != 1 {
		t.Errorf("the log says %d times that the instructions are cut:\n%s", n, said)
	}
	if shown != body.String() {
		t.Errorf("what is shown and what is read on are not the whole: %d bytes of %d", len(shown), body.Len())
	}
}

// TestLongLines: where a line is longer than what may be shown, no character is
// cut, and bytes that are none count as they are in the file.
func TestLongLines(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const front = "---\nname: wide\ndescription: Has long lines.\n---\n"
	writeFile(t, filepath.Join(root, "wide", "SKILL.md"), []byte(front+"\n"+strings.Repeat("ß", 1000)))
	writeFile(t, filepath.Join(root, "bytes", "SKILL.md"), []byte(strings.Replace(front, "wide", "bytes", 1)+strings.Repeat("\xff\n", 1000)))
	f := newFixtureOf(t, root, func(opts *server.Options) {
		opts.Limits = func(string) server.Limits { return server.Limits{Instructions: 1000} }
	})
	c := f.connect(t)
	shown, _, rest := instructionsOf(t, c.call(t, "activate", map[string]any{"name": "wide"}).text())
	if want := strings.Repeat("ß", 499); strings.TrimSpace(shown) != want || rest != len(front)+1+len(want) {
		t.Errorf("%d bytes of a long line are shown, and the rest is at %d", len(shown), rest)
	}
	shown, _, rest = instructionsOf(t, c.call(t, "activate", map[string]any{"name": "bytes"}).text())
	if strings.Count(shown, "\ufffd") != 500 || rest != len(front)+1+1000 {
		t.Errorf("of bytes that are no text %q is shown, and the rest is at %d", shown, rest)
	}
}

// TestBaseDirectory: an activation begins with where the skill is, whatever runs
// programs.
func TestBaseDirectory(t *testing.T) {
	t.Parallel()
	for option, want := range map[string]string{"sandbox=off": "skill://greet", "runs=1": "$SKILL_DIR"} {
		root := t.TempDir()
		writeFile(t, filepath.Join(root, "greet", "SKILL.md"), []byte("---\nname: greet\ndescription: Greets.\n---\nGreet.\n"))
		text := newFixture(t, root, option).connect(t).call(t, "activate", map[string]any{"name": "greet"}).text()
		if begin := "<skill_content name=\"greet\">\nBase directory for this skill: " + want + "\n"; !strings.HasPrefix(text, begin) {
			t.Errorf("%s: the activation begins otherwise than %q:\n%s", option, begin, text)
		}
	}
}
