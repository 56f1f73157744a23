package hosts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// langchainPage are the modules of docs/langchain.md in a directory of their own,
// and what a program needs in which they are used.
func langchainPage(t *testing.T) (dir string, env []string) {
	t.Helper()
	require(t, "python")
	page, err := os.ReadFile("../../docs/langchain.md")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	modules := regexp.MustCompile("(?s)```python\n# (\\w+\\.py)\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(modules) != strings.Count(string(page), "```python") || len(modules) == 0 {
		t.Fatalf("%d modules have a name", len(modules))
	}
	for _, module := range modules {
		writeFile(t, filepath.Join(dir, module[1]), module[2])
	}
	if err := os.Symlink(program.Binary(t), filepath.Join(dir, "skills-mcp")); err != nil {
		t.Fatal(err)
	}
	env = append(slices.Concat(program.Home(t), newModel(t).environment()), "PYTHONPATH="+dir)
	return dir, append(env, "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// The page's first program prints what a skill says, and a file of the call before.
func TestLangChainPageTools(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "one more start of a whole agent")
	dir, env := langchainPage(t)
	command := append([]string{filepath.Join(dir, "direct.py")}, serverArgs(writeNotes(t))...)
	out := string(mustRun(t, env, dir, absolute(t, program.Python(venvDir)), command...))
	if !strings.Contains(out, "Greet Ada.") || !strings.Contains(out, "--- stdout ---\\nAda\\n") {
		t.Errorf("direct.py prints %s", out)
	}
}

// An agent has the server's instructions, and its tools do what they say, invoked
// and awaited; each skill is a tool too.
func TestLangChainPageAgent(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "one more start of a whole agent")
	dir, env := langchainPage(t)
	command := append([]string{absolute(t, filepath.Join(pythonDir, "langchain_page.py"))}, serverArgs(writeNotes(t))...)
	type conversation struct {
		Answers [][2]string
		Tools   []string
		System  string
	}
	var got struct {
		Instructions     string
		Skills           [][2]string
		Invoked, Awaited conversation
		Together         []string
		Failure          string
	}
	out := mustRun(t, env, dir, absolute(t, program.Python(venvDir)), command...)
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, talk := range map[string]conversation{"invoked": got.Invoked, "awaited": got.Awaited} {
		if got.Instructions == "" || talk.System != got.Instructions || !slices.Equal(slices.Sorted(slices.Values(talk.Tools)), ourTools) {
			t.Errorf("%s: the model has the tools %q and the prompt %q", name, talk.Tools, talk.System)
		}
		want := [][2]string{{"success", `<skill_content name="notes">`}, {"success", "exit code 0\n--- stdout ---\nmilk\n"}, {"error", "skill_not_found: "}}
		for i, want := range want {
			if len(talk.Answers) != 3 || talk.Answers[i][0] != want[0] || !strings.HasPrefix(talk.Answers[i][1], want[1]) {
				t.Errorf("%s: the answers are %q, want number %d %q", name, talk.Answers, i, want)
			}
		}
	}
	names := []string{}
	for _, skill := range got.Skills {
		names = append(names, skill[0])
		if skill[1] == "" {
			t.Errorf("the tool %s has no description", skill[0])
		}
	}
	if !slices.Equal(names, []string{"greet", "notes", "plain"}) {
		t.Errorf("the skills' tools are %q", names)
	}
	for i, guest := range []string{"Ada", "Bob", "Cleo"} {
		if len(got.Together) != 3 || !strings.Contains(got.Together[i], "Greet "+guest+".") {
			t.Errorf("call %d of those at once gives %q", i, got.Together)
		}
	}
	if !strings.HasPrefix(got.Failure, "skill_not_found: ") {
		t.Errorf("a failure is %q", got.Failure)
	}
}

// absolute returns a path that holds in any working directory.
func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
