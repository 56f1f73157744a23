package hosted_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/anthropic/anthropictest"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// container is one whose owner does what a test says: it answers the one command
// with any result, of which it knows what the script knows.
type container struct {
	*anthropictest.Server
	nonce string
}

// hostile has the result of the one command be made by a test.
func hostile(t *testing.T, result func(c *container) (stdout string, files []string)) sandbox.Backend {
	t.Helper()
	api := anthropictest.New(t)
	api.Behave(func(command string) steps {
		name := regexp.MustCompile(`skills-mcp-[0-9a-f]{64}\.py`).FindString(command)
		script, err := hex.DecodeString(strings.TrimSuffix(strings.TrimPrefix(name, "skills-mcp-"), ".py"))
		if err != nil || len(script) != sha256.Size {
			t.Errorf("the command is %q", command)
		}
		stdout, files := result(&container{api, api.NonceOf(name)})
		content := []any{}
		for _, id := range files {
			content = append(content, map[string]string{"type": "bash_code_execution_output", "file_id": id})
		}
		return steps{
			{Block: used("bash_code_execution", map[string]string{"command": command})},
			{Block: map[string]any{"type": "bash_code_execution_tool_result", "tool_use_id": "srvtoolu_x", "content": map[string]any{
				"type": "bash_code_execution_result", "return_code": 0, "stdout": stdout, "stderr": "", "content": content,
			}}},
		}
	})
	backend := openAt(t, api, nil)
	t.Cleanup(func() { backend.Close() })
	return backend
}

// reply keeps a file as one that the script wrote, and returns its frame.
func (c *container) reply(data []byte) (frame string, files []string) {
	id := c.AddFile("skills-mcp-"+c.nonce+".reply", data)
	return fmt.Sprintf("skills-mcp %s %x %d\n", c.nonce, sha256.Sum256(data), len(data)), []string{id}
}

const wellEnded = `{"code":0,"whole":true,"files":0,"stdout":0,"stderr":0}` + "\n"

// What is no frame, or not about the file that came, is not taken.
func TestFrames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result func(c *container) (string, []string)
		taken  bool
	}{
		"as it should be": {func(c *container) (string, []string) { return c.reply([]byte(wellEnded)) }, true},
		"no frame":        {func(*container) (string, []string) { return "", nil }, false},
		"cut": {func(c *container) (string, []string) {
			frame, files := c.reply([]byte(wellEnded))
			return frame[:len(frame)-4], files
		}, false},
		"more before": {func(c *container) (string, []string) {
			frame, files := c.reply([]byte(wellEnded))
			return "x\n" + frame, files
		}, false},
		"more after": {func(c *container) (string, []string) {
			frame, files := c.reply([]byte(wellEnded))
			return frame + "x\n", files
		}, false},
		"another nonce": {func(c *container) (string, []string) {
			frame, files := c.reply([]byte(wellEnded))
			return strings.Replace(frame, c.nonce, strings.Repeat("A", len(c.nonce)), 1), files
		}, false},
		"no file": {func(c *container) (string, []string) {
			frame, _ := c.reply([]byte(wellEnded))
			return frame, nil
		}, false},
		"another file": {func(c *container) (string, []string) {
			frame, _ := c.reply([]byte(wellEnded))
			_, files := c.reply([]byte(strings.Replace(wellEnded, "0", "7", 1)))
			return frame, files
		}, false},
		"a file of another name": {func(c *container) (string, []string) {
			frame, _ := c.reply([]byte(wellEnded))
			return frame, []string{c.AddFile("other", []byte(wellEnded))}
		}, false},
		"a longer file": {func(c *container) (string, []string) {
			frame, files := c.reply([]byte(wellEnded + "x"))
			return strings.Replace(frame, fmt.Sprint(len(wellEnded)+1), fmt.Sprint(len(wellEnded)), 1), files
		}, false},
		"too large": {func(c *container) (string, []string) {
			return fmt.Sprintf("skills-mcp %s %064x %d\n", c.nonce, 1, int64(1)<<60), nil
		}, false},
		"a negative size": {func(c *container) (string, []string) { return fmt.Sprintf("skills-mcp %s %064x -1\n", c.nonce, 1), nil }, false},
		"among other files": {func(c *container) (string, []string) {
			frame, files := c.reply([]byte(wellEnded))
			return frame, append([]string{c.AddFile("a", nil), c.AddFile("b", []byte("b"))}, files...)
		}, true},
		"behind too many files": {func(c *container) (string, []string) {
			var all []string
			for range 30 {
				all = append(all, c.AddFile("a", nil))
			}
			frame, files := c.reply([]byte(wellEnded))
			return frame, append(all, files...)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backend := hostile(t, c.result)
			result, err := backend.Run(t.Context(), sandbox.Spec{Shell: "true", Workspace: t.TempDir()})
			if err != nil || c.taken != (result.Status == sandbox.Exited) || !c.taken && result.Status != sandbox.Lost {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
}

// stream is one of package transfer, of a file.
func stream(name string, content string) []byte {
	var out bytes.Buffer
	text := func(s string) []byte { return append([]byte{byte(len(s))}, s...) }
	message := func(fields ...[]byte) {
		body := bytes.Join(fields, nil)
		out.Write([]byte{byte(len(body)), 0, 0, 0})
		out.Write(body)
	}
	message([]byte{'f'}, text(name), []byte{0xa4, 0x03, 0, byte(len(content))}, text(""))
	message([]byte{0, byte(len(content))})
	out.WriteString(content)
	message([]byte{0, 0})
	message([]byte{'e'}, text(""), []byte{0, 0, 0}, text(""))
	return out.Bytes()
}

// What comes back is stored in the workspace and nowhere else, and is bounded; a head
// that says what cannot be is none.
func TestReplies(t *testing.T) {
	t.Parallel()
	inside := stream("made", "x")
	for name, c := range map[string]struct {
		head, rest string
		status     sandbox.Status
		lost       bool
	}{
		"a file":                {fmt.Sprintf(`{"code":3,"whole":true,"files":%d}`, len(inside)), string(inside), sandbox.Exited, false},
		"a path out":            {`{"code":3,"whole":true,"files":999}`, string(stream("../out", "x")), sandbox.Exited, true},
		"an absolute path":      {`{"code":3,"whole":true,"files":999}`, string(stream("/tmp/skills-mcp-out", "x")), sandbox.Exited, true},
		"through a link":        {`{"code":3,"whole":true,"files":999}`, string(stream("leads/out", "x")), sandbox.Exited, false},
		"a stream that ends":    {`{"code":3,"whole":true,"files":10}`, string(inside), sandbox.Exited, true},
		"changes left out":      {fmt.Sprintf(`{"code":3,"whole":false,"files":%d}`, len(inside)), string(inside), sandbox.Exited, true},
		"no head":               {"", "", sandbox.Lost, true},
		"a head that is none":   {"[]", "", sandbox.Lost, true},
		"a code beyond":         {`{"code":256}`, "", sandbox.Lost, true},
		"a code below":          {`{"code":-7}`, "", sandbox.Lost, true},
		"no signal":             {`{"code":-1}`, "", sandbox.Lost, true},
		"a signal that is text": {`{"code":-1,"signal":"SIG\u001b[31m"}`, "", sandbox.Lost, true},
		"a negative time":       {`{"code":0,"cpuNs":-1}`, "", sandbox.Lost, true},
		"output beyond":         {`{"code":0,"stdout":1000}`, "abc", sandbox.Lost, true},
		"output below":          {`{"code":0,"stdout":-1}`, "abc", sandbox.Lost, true},
		"many left behind":      {`{"code":0,"leftBehind":["","","","","","","","",""]}`, "", sandbox.Lost, true},
		"a long head":           {`{"fault":"` + strings.Repeat("x", 70_000) + `"}`, "", sandbox.Lost, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backend := hostile(t, func(box *container) (string, []string) {
				head := strings.Replace(c.head, "999", fmt.Sprint(len(c.rest)), 1)
				return box.reply([]byte(head + "\n" + c.rest))
			})
			workspace, outside := t.TempDir(), t.TempDir()
			if err := os.Symlink(outside, filepath.Join(workspace, "leads")); err != nil {
				t.Fatal(err)
			}
			result, err := backend.Run(t.Context(), sandbox.Spec{Shell: "true", Workspace: workspace})
			if err != nil || result.Status != c.status || result.ChangesLost != c.lost {
				t.Errorf("%+v, %v", result, err)
			}
			for _, place := range []string{filepath.Join(outside, "out"), filepath.Join(filepath.Dir(workspace), "out"), "/tmp/skills-mcp-out"} {
				if _, err := os.Lstat(place); err == nil {
					t.Errorf("%s is there", place)
				}
			}
			if _, err := os.Lstat(filepath.Join(workspace, "made")); (err == nil) != (name == "a file" || name == "changes left out") {
				t.Errorf("what was made: %v", err)
			}
		})
	}
}

// What the container says of why nothing was started is one of a few reasons.
func TestFaults(t *testing.T) {
	t.Parallel()
	for fault, says := range map[string]string{
		"program-missing": `no program "nobody"`, "arguments-too-long": "too long", "skill-differs": "does not have the files",
		"files-differ": "does not have the files", "start-failed": "could not be started", "\u001b[31manything": "could not be started",
	} {
		backend := hostile(t, func(c *container) (string, []string) {
			return c.reply(fmt.Appendf(nil, `{"fault":"%s"}`+"\n", strings.ReplaceAll(fault, "\u001b", `\u001b`)))
		})
		_, err := backend.Run(t.Context(), sandbox.Spec{Argv: []string{"nobody"}, Workspace: testfiles.Dir(t, nil)})
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\u001b") {
			t.Errorf("%q gives %v", fault, err)
		}
	}
}
