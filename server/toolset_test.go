package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server"
	"github.com/skills-mcp/skills-mcp/testdata"
)

// worker is a client of a server with the toolset workspace.
type worker struct {
	*client
	dir string // of its workspace, once it has one
}

func newWorker(t *testing.T) *worker {
	t.Helper()
	return &worker{client: newFixture(t, testdata.Valid(), "toolset=workspace").connect(t)}
}

// create makes a file, which must go well, and learns where the workspace is.
func (w *worker) create(t *testing.T, path, text string) {
	t.Helper()
	if a := w.call(t, "create_file", map[string]any{"path": path, "file_text": text}); a.IsError {
		t.Fatalf("create_file: %s", a.text())
	}
	found, err := filepath.Glob(filepath.Join(w.fixture.workspaceBase, "*", "ws-*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("workspaces: %q, %v", found, err)
	}
	w.dir = found[0]
}

func (w *worker) view(t *testing.T, path string, lines ...int) answer {
	t.Helper()
	arguments := map[string]any{"path": path}
	if lines != nil {
		arguments["view_range"] = lines
	}
	return w.call(t, "view", arguments)
}

func (w *worker) replace(t *testing.T, path, old, replaced string) answer {
	t.Helper()
	return w.call(t, "str_replace", map[string]any{"path": path, "old_str": old, "new_str": replaced})
}

// file returns what a file of the workspace holds.
func (w *worker) file(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	must(t, err)
	return string(data)
}

func TestToolsetIsChecked(t *testing.T) {
	t.Parallel()
	f := newFixture(t, testdata.Valid())
	for _, opts := range []server.Options{
		{Catalog: f.catalog, Workspaces: f.workspaces, Toolsets: []server.Toolset{"none"}},
		{Catalog: f.catalog, Toolsets: []server.Toolset{server.ToolsetWorkspace}},
	} {
		if _, err := server.New(opts); err == nil {
			t.Errorf("%v is taken", opts.Toolsets)
		}
	}
}

// TestToolsetPaths: a path is taken as models write it, and leads into the
// workspace alone.
func TestToolsetPaths(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	for i, path := range []string{
		"a/b.txt", "./a/b.txt", "a//b.txt", "/workspace/a/b.txt", "/workspace//a/b.txt", "$WORKSPACE/a/b.txt", "${WORKSPACE}/a/b.txt",
	} {
		w.create(t, path, strconv.Itoa(i))
		if got := w.file(t, "a/b.txt"); got != strconv.Itoa(i) {
			t.Errorf("%s was written elsewhere", path)
		}
	}
	for _, path := range []string{
		"/workspaces/x", "/workspace2", "/workspace/../x", "$WORKSPACE/../x", "//workspace/x", "/", "/tmp/x", "a/../../x", "..", `..\x`, `\\host\x`, "C:\\x",
		"~", "~/x", "$HOME/x", "${TMPDIR}/x", "$SKILL_DIR/x", "file:///etc/passwd", "skill://csv-profile/SKILL.md", "workspace://", "workspace://../x",
		"a\x00b", strings.Repeat("x/", 3000), w.dir + "/x",
	} {
		if a := w.call(t, "create_file", map[string]any{"path": path, "file_text": "x"}); a.code() == "" || a.code() == "internal_error" {
			t.Errorf("create_file at %q: %s", path, a.text())
		}
		if a := w.view(t, path); a.code() == "" || a.code() == "internal_error" {
			t.Errorf("view of %q: %s", path, a.text())
		}
	}
	for _, path := range []string{".", "", "/workspace", "$WORKSPACE", "/workspace/", "a", ".skills-mcp", ".skills-mcp/x", ".SKILLS-mcp/x", "./.skills-mcp/./x"} {
		if a := w.call(t, "create_file", map[string]any{"path": path, "file_text": "x"}); a.code() == "" || a.code() == "internal_error" {
			t.Errorf("create_file at %q: %s", path, a.text())
		}
	}
	if names, err := os.ReadDir(w.dir); err != nil || len(names) != 1 {
		t.Errorf("the workspace holds %v, %v", names, err)
	}
}

// TestViewParts: what the notices lead through is the whole file.
func TestViewParts(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	const lines = 12_345
	var want strings.Builder
	for i := range lines {
		fmt.Fprintf(&want, "line %d of the file, größer als nichts\n", i+1)
	}
	w.create(t, "long.txt", want.String())
	var got strings.Builder
	first, parts := 1, 0
	for first > 0 {
		a := w.view(t, "long.txt", first, -1)
		for line := range strings.Lines(a.Content[0].Text) {
			number, text, _ := strings.Cut(strings.TrimLeft(line, " "), "\t")
			if number != strconv.Itoa(strings.Count(got.String(), "\n")+1) {
				t.Fatalf("after line %d comes %q", strings.Count(got.String(), "\n"), line)
			}
			got.WriteString(text)
		}
		first = 0
		if len(a.Content) == 2 {
			_, rest, _ := strings.Cut(a.Content[1].Text, `"view_range": [`)
			_, err := fmt.Sscanf(rest, "%d, -1", &first)
			must(t, err)
		}
		parts++
	}
	if got.String() != want.String() || parts < 2 {
		t.Errorf("%d parts gave %d bytes of %d", parts, got.Len(), want.Len())
	}
}

func TestViewLines(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	long := strings.Repeat("ä", 30_000)
	for name, c := range map[string]struct{ text, want string }{
		"crlf":    {"a\r\nb\r\n", "     1\ta\n     2\tb\n"},
		"bom":     {"\ufeffa\n", "     1\ta\n"},
		"no end":  {"a\n\nb", "     1\ta\n     2\t\n     3\tb\n"},
		"breaks":  {"\n\n", "     1\t\n     2\t\n"},
		"empty":   {"", "(empty)\n"},
		"only":    {"\ufeff", "(empty)\n"},
		"long":    {long + "\nb\n", "     1\t" + long[:20_000] + " [… 40000 more bytes in this line; look at them with a program, such as cut]\n     2\tb\n"},
		"spoof":   {"a\n     2\tb\n[Truncated: no]", "     1\ta\n     2\t     2\tb\n     3\t[Truncated: no]\n"},
		"unicode": {"a\u2028b\vc\n", "     1\ta\u2028b\vc\n"},
	} {
		w.create(t, name, c.text)
		if a := w.view(t, name); a.IsError || len(a.Content) != 1 || a.text() != c.want {
			t.Errorf("%s: %.300q", name, a.text())
		}
	}
	must(t, os.WriteFile(filepath.Join(w.dir, "huge"), []byte(strings.Repeat("0123456789abcde\n", 2<<20)), 0o644))
	if a := w.view(t, "huge", 1<<20, -1); a.IsError || !strings.HasPrefix(a.text(), "1048576\t") || !strings.Contains(a.text(), "of which 16.8 MB can be viewed") {
		t.Errorf("the end of what can be viewed: %.300s", a.text())
	}
	if a := w.view(t, "huge", 1<<20+1, -1); a.code() != "out_of_range" {
		t.Errorf("beyond what can be viewed: %.300s", a.text())
	}
}

func TestViewImage(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.create(t, "x", "")
	// The smallest GIF, by its first bytes.
	must(t, os.WriteFile(filepath.Join(w.dir, "dot.gif"), []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"), 0o644))
	a := w.view(t, "dot.gif")
	if a.IsError || len(a.Content) != 2 || a.Content[1].Type != "image" || a.Content[1].MIMEType != "image/gif" || a.Content[1].Data == "" {
		t.Errorf("an image is %+v", a)
	}
	if a := w.view(t, "dot.gif", 1, 2); a.code() != "invalid_arguments" {
		t.Errorf("lines of an image: %+v", a)
	}
}

func TestStrReplace(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	for name, c := range map[string]struct{ text, old, replaced, want, code string }{
		"middle":       {"a b c", "b", "B", "a B c", ""},
		"deleted":      {"a b c", " b", "", "a c", ""},
		"whole":        {"a", "a", "b\n", "b\n", ""},
		"lines":        {"a\nb\nc\n", "a\nb\n", "x\n", "x\nc\n", ""},
		"CRLF":         {"a\r\nb\r\nc\r\n", "a\nb\n", "1\n2\n3\n", "1\r\n2\r\n3\r\nc\r\n", ""},
		"CRLF grows":   {"a\r\nb\r\n", "a", "1\n2", "1\r\n2\r\nb\r\n", ""},
		"CRLF given":   {"a\r\nb\r\n", "a\r\nb", "1\r\n2", "1\r\n2\r\n", ""},
		"mixed":        {"a\r\nb\nc\r\n", "a\nb", "1\n2", "1\r\n2\nc\r\n", ""},
		"mixed, CRLF":  {"a\r\nb\r\nc\n", "a\nb", "1\n2", "1\r\n2\r\nc\n", ""},
		"LF stays":     {"a\nb\n", "a", "1\r\n2", "1\r\n2\nb\n", ""},
		"BOM":          {"\ufeffa\n", "a", "b", "\ufeffb\n", ""},
		"unicode":      {"größe 日本", "ß", "ss", "grösse 日本", ""},
		"half a rune":  {"\u00e9\u00e8", "\u00e9", "e", "e\u00e8", ""},
		"like pattern": {"$1 .* \\1", ".*", "$0", "$1 $0 \\1", ""},
		"twice":        {"a\na\n", "a", "b", "", "text_not_unique"},
		"overlapping":  {"xaaax", "aa", "b", "", "text_not_unique"},
		"never":        {"a", "b", "c", "", "text_not_found"},
		"prefix":       {"a", "     1\ta", "c", "", "text_not_found"},
		"same":         {"a", "a", "a", "", "invalid_arguments"},
		"nothing":      {"a", "", "b", "", "invalid_arguments"},
	} {
		w.create(t, "file", c.text)
		a := w.replace(t, "file", c.old, c.replaced)
		want := c.want
		if c.code != "" {
			want = c.text
		}
		if got := w.file(t, "file"); a.code() != c.code || got != want {
			t.Errorf("%s: %.200s; the file holds %.100q", name, a.text(), got)
		}
	}
	must(t, os.WriteFile(filepath.Join(w.dir, "latin1"), []byte("gr\xf6\xdfe"), 0o644))
	if a := w.replace(t, "latin1", "gr", "x"); a.code() != "not_text" {
		t.Errorf("latin1: %s", a.text())
	}
	must(t, os.WriteFile(filepath.Join(w.dir, "large"), []byte("x"+strings.Repeat("a", 16<<20)), 0o644))
	if a := w.replace(t, "large", "x", "y"); a.code() != "too_large" {
		t.Errorf("a large file: %s", a.text())
	}
	must(t, os.WriteFile(filepath.Join(w.dir, "large"), []byte("x"+strings.Repeat("a", 16<<20-1)), 0o644))
	if a := w.replace(t, "large", "x", "yy"); a.code() != "too_large" {
		t.Errorf("a file that would be too large: %s", a.text())
	}
}

func TestToolsetTextSize(t *testing.T) {
	t.Parallel()
	f := newFixture(t, testdata.Valid(), "toolset=workspace")
	raw, err := json.Marshal(map[string]any{"path": "a", "file_text": strings.Repeat("ä", 2<<20) + "."})
	must(t, err)
	if a, err := f.server.Call(t.Context(), "create_file", raw); err != nil || !strings.HasPrefix(a.Text, "too_large: ") {
		t.Errorf("a byte too many: %v, %.200s", err, a.Text)
	}
}

// TestEditsTogether: calls at the same time undo nothing of each other.
func TestEditsTogether(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	var text strings.Builder
	const places = 40
	for i := range places {
		fmt.Fprintf(&text, "<%d>\n", i)
	}
	w.create(t, "file", text.String())
	var answers []<-chan reply
	for i := range places {
		answers = append(answers, w.start(t, "tools/call", map[string]any{"name": "str_replace", "arguments": map[string]any{
			"path": "file", "old_str": fmt.Sprintf("<%d>", i), "new_str": fmt.Sprintf("done %d", i)}}))
	}
	for _, answer := range answers {
		if a := decodeAnswer(t, "str_replace", w.await(t, answer, "str_replace")); a.IsError {
			t.Error(a.text())
		}
	}
	if got := w.file(t, "file"); strings.Count(got, "done") != places {
		t.Errorf("of %d edits are left:\n%s", places, got)
	}
}

// TestToolsetQuota: what a client writes counts as what a program does.
func TestToolsetQuota(t *testing.T) {
	t.Parallel()
	files := testenv.Rounds(t, 2_000, sandbox.DefaultWorkspaceFiles) // that may be there
	limits := func(string) server.Limits { return server.Limits{Limits: sandbox.Limits{WorkspaceFiles: files}} }
	f := newFixtureOf(t, testdata.Valid(), func(opts *server.Options) { opts.Limits = limits }, "toolset=workspace")
	w := &worker{client: f.connect(t)}
	w.create(t, "first", "x")
	dir := filepath.Join(w.dir, "many")
	must(t, os.Mkdir(dir, 0o755))
	for i := range files - 2 {
		must(t, os.Symlink(".", filepath.Join(dir, strconv.Itoa(i))))
	}
	if a := w.call(t, "create_file", map[string]any{"path": "one-more", "file_text": ""}); a.code() != "workspace_full" {
		t.Errorf("a file too many: %s", a.text())
	}
	if a := w.replace(t, "first", "x", "xx"); a.code() != "workspace_full" {
		t.Errorf("a byte too many: %s", a.text())
	}
	if a := w.replace(t, "first", "x", ""); a.IsError {
		t.Errorf("a byte less: %s", a.text())
	}
	must(t, os.Remove(filepath.Join(dir, "0")))
	w.create(t, "one-more", "")
}

// TestToolsetQuotaHidden: what cannot be looked into counts as too much, as it
// does where a program made it.
func TestToolsetQuotaHidden(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.create(t, "first", "x")
	deep := filepath.Join(w.dir, strings.Repeat("d/", 65))
	must(t, os.MkdirAll(deep, 0o755))
	if a := w.call(t, "create_file", map[string]any{"path": "one-more", "file_text": ""}); a.code() != "workspace_full" || !strings.Contains(a.text(), "cannot be looked into") {
		t.Errorf("create_file: %s", a.text())
	}
	if a := w.replace(t, "first", "x", "xx"); a.code() != "workspace_full" {
		t.Errorf("str_replace: %s", a.text())
	}
	if a := w.replace(t, "first", "x", ""); a.IsError {
		t.Errorf("a byte less: %s", a.text())
	}
	must(t, os.Remove(deep))
	w.create(t, "one-more", "")
}

// TestToolsetStateless: where every request stands alone, a call says which
// workspace it means, and learns it from the one that made it.
func TestToolsetStateless(t *testing.T) {
	t.Parallel()
	url := newFixture(t, testdata.Valid(), "toolset=workspace").serveHTTP(t)
	call := func(tool string, arguments map[string]any) answer {
		t.Helper()
		_, body := post(t, url+"/mcp", rpc(1, "tools/call", modern(map[string]any{"name": tool, "arguments": arguments})), modernHeaders("tools/call", tool)...)
		var r reply
		must(t, json.Unmarshal(body, &r))
		return decodeAnswer(t, tool, r)
	}
	made := call("create_file", map[string]any{"path": "a.txt", "file_text": "first"})
	handle := handlePattern.FindString(made.text())
	if made.IsError || handle == "" {
		t.Fatalf("no handle in %s", made.text())
	}
	for _, arguments := range []map[string]any{
		{"path": "a.txt", "workspace": handle}, {"path": "workspace://" + handle + "/a.txt"}, {"path": "/workspace/a.txt", "workspace": handle},
	} {
		if a := call("view", arguments); a.text() != "     1\tfirst\n" {
			t.Errorf("%v: %s", arguments, a.text())
		}
	}
	if a := call("view", map[string]any{"path": "a.txt"}); a.code() != "invalid_arguments" {
		t.Errorf("view without a workspace: %s", a.text())
	}
	if a := call("str_replace", map[string]any{"path": "a.txt", "old_str": "first"}); a.code() != "invalid_arguments" {
		t.Errorf("str_replace without a workspace: %s", a.text())
	}
	if a := call("view", map[string]any{"path": "."}); a.IsError || !strings.Contains(a.text(), "no workspace yet") {
		t.Errorf("view of a workspace that is not there: %s", a.text())
	}
	var run ran
	must(t, json.Unmarshal(call("bash_tool", map[string]any{"command": "cat a.txt", "workspace": handle}).Structured, &run))
	if run.Stdout != "first" || run.Workspace != handle {
		t.Errorf("a command in the workspace: %+v", run)
	}
}
