package integration

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
)

// The values of two plain secrets: one that every encoding writes in another way,
// and one that can be the name of a file.
const (
	oddSecret  = `sk-live-"4f9a/8b7c\6d5e<&>%+é`
	nameSecret = "ghp_0123456789abcdefABCDEFxyz"
)

// formsOf returns all that a value is looked for as, by what wrote it so.
func formsOf(value string) map[string]string {
	quoted := func(text string) string {
		encoded, _ := json.Marshal(text)
		return string(encoded[1 : len(encoded)-1])
	}
	var escaped, percent strings.Builder
	for _, c := range value {
		fmt.Fprintf(&escaped, `\u%04x`, c)
	}
	for i := range len(value) {
		fmt.Fprintf(&percent, "%%%02X", value[i])
	}
	forms := map[string]string{
		"plain": value, "JSON": quoted(value), "JSON in JSON": quoted(quoted(value)), "JSON with escaped slashes": strings.ReplaceAll(quoted(value), "/", `\/`),
		"JSON without HTML's": strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value),
		"escaped":             escaped.String(), "query": url.QueryEscape(value), "path": url.PathEscape(value), "percent": percent.String(),
		"hex": hex.EncodeToString([]byte(value)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(value))),
	}
	for offset, before := range []string{"", "a", "ab"} {
		encoded := base64.StdEncoding.EncodeToString([]byte(before + value))
		forms[fmt.Sprint("base64 ", offset)] = encoded
		forms[fmt.Sprint("base64 of URLs ", offset)] = strings.NewReplacer("+", "-", "/", "_").Replace(encoded)
	}
	return forms
}

// leaked reports the forms of the secrets that are in what left the server.
func leaked(t *testing.T, where string, left []byte) {
	t.Helper()
	// Base64 is wrapped, in JSON too.
	unwrapped := []byte(strings.NewReplacer("\n", "", `\r`, "", `\n`, "", "\r", "").Replace(string(left)))
	for _, value := range []string{oddSecret, nameSecret} {
		for how, form := range formsOf(value) {
			if strings.HasPrefix(how, "base64") {
				form = form[4 : len(form)-4] // what it has in common with that of longer texts
			}
			if at := bytes.Index(left, []byte(form)); at >= 0 {
				t.Errorf("%s has %.12s… (%s): …%s…", where, value, how, left[max(0, at-80):min(len(left), at+len(form)+20)])
			} else if bytes.Contains(unwrapped, []byte(form)) {
				t.Errorf("%s has %.12s… (%s), wrapped", where, value, how)
			}
		}
	}
}

// leaky writes what it has in every way that it can.
const leaky = `cat "$SKILL_DIR/forms.txt"
cd "$WORKSPACE"
for ((i = 0; i < ${#ODD}; i++)); do printf %s "${ODD:i:1}"; done
echo
printf %s "$ODD" | base64 -w 11
printf 'x%s' "$ODD" | base64 >&2
printf 'xy%s' "$ODD" | base64 -w 0 >&2
printf '\nAuthorization: Bearer %s\n{"key": "%s"}\n' "$NAMED" "$NAMED" >&2
for ((i = 0; i < 2000; i++)); do echo "line $i of the log, and $NAMED"; done
mkdir -p "dir-$NAMED"
printf 'odd=%s named=%s\n' "$ODD" "$NAMED" > "dir-$NAMED/out-$NAMED.txt"
printf '\0\1%s\377%s' "$ODD" "$NAMED" > binary.bin
cp "$SKILL_DIR/forms.txt" forms.txt
if [ -n "$PROJECT" ]; then
	cp "$SKILL_DIR/forms.txt" "$PROJECT/added-$NAMED.txt"
	printf 'key: %s\n' "$ODD" >> "$PROJECT/notes.md"
fi
if [ "$1" = hang ]; then sleep 600; fi
bash -c "exit 3 # $NAMED" || { echo "failed with $ODD" >&2; exit 3; }
`

// leakyScene is a server's surroundings with a skill that is granted both secrets.
type leakyScene struct {
	env           []string
	home, project string
	args          []string
	session       string       // over HTTP
	applies       bool         // has changes of the project applied
	left          bytes.Buffer // all that left the servers
}

func newLeakyScene(t *testing.T) *leakyScene {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("programs see a project on Linux only")
	}
	s := &leakyScene{env: program.Home(t)}
	s.home = program.Environ(s.env)["HOME"]
	s.env = append(s.env, "NAMED_ELSEWHERE="+nameSecret)
	var forms strings.Builder
	for _, value := range []string{oddSecret, nameSecret} {
		for how, form := range formsOf(value) {
			fmt.Fprintf(&forms, "%s: %s\n", how, form)
		}
	}
	root := testfiles.Dir(t, map[string]string{
		"leaky/SKILL.md":  "---\nname: leaky\ndescription: Writes " + nameSecret + " everywhere.\n---\nUse " + oddSecret + ".\n",
		"leaky/leak.bash": leaky, "leaky/forms.txt": forms.String(),
	})
	s.project = testfiles.Dir(t, map[string]string{"notes.md": "one\n"})
	testfiles.WriteMode(t, filepath.Join(s.home, "odd"), oddSecret+"\n", 0o600)
	testfiles.WriteMode(t, filepath.Join(s.home, "config/skills-mcp/config.yaml"), fmt.Sprintf(`skills:
  leaky:
    root: %s
    secrets:
      ODD: {source: "file:~/odd", mode: plain}
      NAMED: {source: "env:NAMED_ELSEWHERE", mode: plain}
    pin: name
`, root), 0o600)
	s.args = []string{"--log-level=debug", "--sandbox=auto", "--project", s.project, "--approval=host", root}
	return s
}

// requests are all ways to get at what the skill has and wrote, in that order.
func (s *leakyScene) requests(first leakyRun) []map[string]any {
	tool := func(name string, arguments map[string]any) map[string]any {
		return map[string]any{"method": "tools/call", "params": map[string]any{"name": name, "arguments": arguments}}
	}
	read := func(uri string) map[string]any {
		return map[string]any{"method": "resources/read", "params": map[string]any{"uri": uri}}
	}
	s.applies = true
	workspace, changes, in := first.Workspace, first.Changes.ID, "workspace://"+first.Workspace+"/"
	return []map[string]any{
		read("changes://" + changes), read("changes://" + changes + "/notes.md"), read("changes://" + changes + "/added-" + nameSecret + ".txt"),
		tool("applyChanges", map[string]any{"changes": changes, "paths": []string{"notes.md"}}),
		tool("activate", map[string]any{"name": "leaky", "arguments": oddSecret}),
		tool("findSkills", map[string]any{"query": nameSecret}),
		tool("readResource", map[string]any{"name": "leaky", "path": "forms.txt"}),
		tool("readResource", map[string]any{"name": "leaky", "path": oddSecret}),
		tool("exec", map[string]any{"name": "leaky", "command": "cat forms.txt binary.bin; env; ls -R", "workspace": workspace}),
		tool("exec", map[string]any{"name": "leaky", "script": "leak.bash", "args": []string{"hang"}, "timeoutMs": 1500}),
		tool("exec", map[string]any{"name": "leaky", "script": "missing-" + nameSecret, "workspace": workspace}),
		tool("exec", map[string]any{"name": "leaky", "script": "leak.bash", "workspace": nameSecret}),
		tool(nameSecret, map[string]any{}),
		read("skill://leaky/forms.txt"), read("skill://leaky/" + url.PathEscape(oddSecret)), read(in + "forms.txt"), read(in + "binary.bin"),
		read(in + "dir-" + nameSecret + "/out-" + nameSecret + ".txt"), read(in), read(in + nameSecret), read(first.StdoutFile),
		tool("applyChanges", map[string]any{"changes": changes, "discard": true}),
		{"method": "prompts/get", "params": map[string]any{"name": "leaky", "arguments": map[string]any{"arguments": nameSecret}}},
		{"method": "prompts/list"}, {"method": "resources/list"}, {"method": "skills/list"}, {"method": nameSecret},
	}
}

// leakyRun is what the first run says of itself.
type leakyRun struct {
	ExitCode              int
	Workspace, StdoutFile string
	Changes               struct {
		ID   string
		Held []struct{ Path string }
	}
}

// held returns the first run, in which there must be all that the program wrote.
func (s *leakyScene) held(t *testing.T, answer []byte) leakyRun {
	t.Helper()
	var first struct {
		Result struct {
			Content           []content
			StructuredContent leakyRun
		}
	}
	if err := json.Unmarshal(answer, &first); err != nil || len(first.Result.Content) == 0 {
		t.Fatalf("%v: %s", err, answer)
	}
	text, run := first.Result.Content[0].Text, first.Result.StructuredContent
	if strings.HasPrefix(text, "sandbox_unavailable") {
		t.Skipf("no sandbox here: %s", text)
	}
	if run.ExitCode != 3 || run.StdoutFile == "" || len(run.Changes.Held) != 2 || !strings.Contains(text, "failed with [secret ODD]") || !strings.Contains(text, "Bearer [secret NAMED]") {
		t.Fatalf("exec gives %s", answer)
	}
	return run
}

// TestSecretsLeaveNowhere lets a skill that has the values of two secrets write them
// in all forms wherever it can, asks for all of it in all ways, and looks for any
// form in everything that left the server.
func TestSecretsLeaveNowhere(t *testing.T) {
	t.Parallel()
	run := map[string]any{"name": "leaky", "script": "leak.bash", "args": []string{"first", oddSecret}}
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		s := newLeakyScene(t)
		w := dial(t, s.env, s.args...)
		w.handshake(t)
		first := w.call(t, "tools/call", map[string]any{"name": "exec", "arguments": run})
		s.left.Write(first.raw)
		for _, request := range s.requests(s.held(t, first.raw)) {
			id := w.request(t, request["method"].(string), request["params"])
			answer := w.messages.take(t, fmt.Sprint("the answer to ", request["method"]), func(m message) bool { return m.ID != nil && *m.ID == id && m.Method == "" })
			s.left.Write(answer.raw)
		}
		w.Stop(t)
		s.left.WriteString(w.Stderr.String())
		s.check(t)
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		s := newLeakyScene(t)
		server, address := program.Serve(t, s.env, s.args...)
		s.post(t, address, 0, map[string]any{"method": "initialize", "params": map[string]any{
			"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "wire", "version": "1"},
		}})
		first := s.post(t, address, 1, map[string]any{"method": "tools/call", "params": map[string]any{"name": "exec", "arguments": run}})
		for i, request := range s.requests(s.held(t, first)) {
			s.post(t, address, i+2, request)
		}
		server.Stop(t)
		s.left.WriteString(server.Stderr.String())
		s.check(t)
	})
	t.Run("commands", func(t *testing.T) {
		t.Parallel()
		s := newLeakyScene(t)
		arguments, err := json.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		root := s.args[len(s.args)-1]
		s.command(t, "call", "--log-level=debug", "--sandbox=auto", "--project", s.project, "--root", root, "exec", string(arguments))
		s.command(t, "call", "--structured", "--log-level=debug", "--sandbox=auto", "--project", s.project, "--root", root, "exec", string(arguments))
		s.command(t, "changes")
		s.command(t, "changes", "--json")
		set := regexp.MustCompile(`cs-[0-9a-f]+-[0-9a-f]+`).FindString(s.left.String())
		s.command(t, "changes", set)
		s.command(t, "apply", "--yes", set)
		s.applies = true
		s.command(t, "audit")
		s.command(t, "audit", "--json")
		s.command(t, "grants")
		s.command(t, "grants", "--json")
		s.check(t)
	})
}

// post sends a request, and returns its answer.
func (s *leakyScene) post(t *testing.T, address string, id int, request map[string]any) []byte {
	t.Helper()
	request["jsonrpc"], request["id"] = "2.0", id
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	posted, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/mcp", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	posted.Header.Set("Content-Type", "application/json")
	posted.Header.Set("Accept", "application/json, text/event-stream")
	if s.session != "" {
		posted.Header.Set("Mcp-Session-Id", s.session)
	}
	response, err := http.DefaultClient.Do(posted)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	s.left.Write(answer)
	fmt.Fprint(&s.left, response.Header)
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		s.session = id
	}
	for lines := bufio.NewScanner(bytes.NewReader(answer)); lines.Scan(); {
		if data, isEvent := strings.CutPrefix(lines.Text(), "data: "); isEvent {
			return []byte(data)
		}
	}
	return answer
}

// command runs a subcommand, whatever its exit code.
func (s *leakyScene) command(t *testing.T, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program.Binary(t), args...)
	command.Env, command.Dir = s.env, s.home
	written, err := command.CombinedOutput()
	if len(written) == 0 {
		t.Errorf("%q writes nothing: %v", args, err)
	}
	s.left.Write(written)
}

// check looks for the secrets in what left the server, and in what it left on disk
// besides the workspaces and change sets, which hold what programs wrote.
func (s *leakyScene) check(t *testing.T) {
	t.Helper()
	leaked(t, "the output", s.left.Bytes())
	if project := contentsOf(t, filepath.Join(s.project, "notes.md")); s.applies && !strings.HasPrefix(project, "one\nkey: "+oddSecret+"\n") {
		t.Errorf("the project has %q, not what the program wrote", project)
	}
	if marks := bytes.Count(s.left.Bytes(), []byte("[secret ")); marks < 10 {
		t.Errorf("the output has the names of secrets %d times: %s", marks, s.left.Bytes())
	}
	audited := 0
	err := filepath.WalkDir(filepath.Join(s.home, "state"), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "changes":
			return fs.SkipDir
		case entry.Type().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			leaked(t, path, append([]byte(path+"\n"), content...))
			audited += bytes.Count(content, []byte("leak.bash"))
		}
		return nil
	})
	if err != nil || audited == 0 {
		t.Errorf("the audit log has %d lines of it: %v", audited, err)
	}
}
