package integration

import (
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// TestWorkflow runs the commands of the workflow that users are given, on a skill
// as 'skills-mcp init' makes it.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts of the skill are for a Unix shell")
	}
	commands := regexp.MustCompile(`(?m)^ +run: (skills-mcp .*)$`).FindAllStringSubmatch(contentsOf(t, "../docs/skills.workflow.yml"), -1)
	if len(commands) != 2 {
		t.Fatalf("the workflow has the commands %q", commands)
	}
	dir := checkout(t)
	env := append(withoutProject(program.Home(t)), "PATH="+dir+"/bin"+string(os.PathListSeparator)+os.Getenv("PATH"), "SKILLS=skills")
	runShown(t, env, dir, "skills-mcp init skills/hello")
	for i, want := range []string{"1 of 1 skill valid, 0 errors, 0 warnings", "2 examples, 0 failed"} {
		if got := runShown(t, env, dir, commands[i][1]); !strings.Contains(got, want) {
			t.Errorf("%s printed %q, want %q", commands[i][1], got, want)
		}
	}
}
