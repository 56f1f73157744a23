package server_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/internal/audit"
)

// TestPlainReads: a reading that the library has no part in is answered, refused
// and recorded as one that it has, which any further parameter makes it.
func TestPlainReads(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	files := map[string]string{
		"SKILL.md":     "---\nname: plain\ndescription: Is read.\nallowed-tools: Read(open/*)\n---\n<b> & \u2028\n",
		"open/a b.txt": "text", "open/blob.bin": "\x00\xff", "open/empty": "", "secret.md": "no",
	}
	for name, content := range files {
		writeFile(t, filepath.Join(root, "plain", filepath.FromSlash(name)), []byte(content))
	}
	for _, options := range [][]string{{"audit"}, {"audit", "approval.reads=ask"}, {"audit", "lost"}} {
		t.Run(strings.Join(options, " "), func(t *testing.T) {
			t.Parallel()
			testPlainReads(t, newFixture(t, root, options...), slices.Contains(options, "lost"))
		})
	}
}

func testPlainReads(t *testing.T, f *fixture, lost bool) {
	base := f.serveHTTP(t)
	session, ended := legacy(t, base), legacy(t, base)
	send(t, http.MethodDelete, base+"/mcp", ended...)
	if lost {
		f.loseAudit(t)
	}
	read := func(uri string) string {
		return `"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"` + uri + `"`
	}
	const whole = "skill://plain/SKILL.md"
	withID := func(id string) string { return strings.Replace(read(whole), `"id":7`, `"id":`+id, 1) }
	replaced := func(header, value string) []string { return append(session[:len(session):len(session)], header, value) }
	for _, test := range []struct {
		name, message string
		headers       []string
	}{
		{"the document", read(whole), session},
		{"a text with a space", read("skill://plain/open/a%20b.txt"), session},
		{"a binary", read("skill://plain/open/blob.bin"), session},
		{"an empty file", read("skill://plain/open/empty"), session},
		{"what the policy denies", read("skill://plain/secret.md"), session},
		{"a directory", read("skill://plain/open"), session},
		{"a way out", read("skill://plain/../plain/SKILL.md"), session},
		{"an encoded way out", read("skill://plain/open%2f..%2fsecret.md"), session},
		{"no such file", read("skill://plain/none"), session},
		{"no such skill", read("skill://none/SKILL.md"), session},
		{"markup in a URI", read("skill://<b>&/SKILL.md"), session},
		{"another scheme", read("file:///etc/passwd"), session},
		{"no URI", read(""), session},
		{"an id that is a text", withID(`"<a>\u0041"`), session},
		{"an id beyond floats", withID("9007199254740993"), session},
		{"an id that is a float", withID("1.50"), session},
		{"an id that is null", withID("null"), session},
		{"another JSON-RPC", strings.Replace(read(whole), "2.0", "1.0", 1), session},
		{"no JSON-RPC", strings.Replace(read(whole), `"jsonrpc":"2.0",`, "", 1), session},
		{"no string for a URI", strings.Replace(read("x"), `"x"`, "[1]", 1), session},
		{"a member in another case", strings.Replace(read(whole), `"method"`, `"Method"`, 1), session},
		{"an older version", read(whole), replaced("MCP-Protocol-Version", "2025-03-26")},
		{"no known version", read(whole), replaced("MCP-Protocol-Version", "2020-01-01")},
		{"no version", read(whole), session[:2]},
		{"another content type", read(whole), replaced("Content-Type", "text/plain")},
		{"a content type with parameters", read(whole), replaced("Content-Type", "application/json; charset=utf-8")},
		{"a session that ended", read(whole), ended},
		{"a session of no server", read(whole), []string{"Mcp-Session-Id", "mcp-session-x"}},
		{"no session", read(whole), nil},
	} {
		asked := func(more string) plainAnswer {
			before := len(f.recordedUnless(t, lost))
			response, body := post(t, base+"/mcp", []byte("{"+test.message+more+"}}"), test.headers...)
			got := plainAnswer{Status: response.StatusCode, Type: response.Header.Get("Content-Type"), Body: string(body)}
			if json.Unmarshal(body, &got.Message) == nil {
				got.Body = ""
			}
			for _, record := range f.recordedUnless(t, lost)[before:] {
				got.Lines = append(got.Lines, lineOf(record))
				got.Callers = append(got.Callers, record.Session+" "+record.Caller)
			}
			return got
		}
		if diff := cmp.Diff(asked(`,"_meta":{}`), asked("")); diff != "" {
			t.Errorf("%s is served otherwise (-want +got):\n%s", test.name, diff)
		}
	}
}

// plainAnswer is what came of a reading.
type plainAnswer struct {
	Status     int
	Type, Body string
	Message    any // in the place of a body that is JSON
	Lines      []line
	Callers    []string
}

// recordedUnless returns what the audit log has, where there is one.
func (f *fixture) recordedUnless(t *testing.T, lost bool) []audit.Record {
	t.Helper()
	if lost {
		return nil
	}
	return f.recorded(t)
}
