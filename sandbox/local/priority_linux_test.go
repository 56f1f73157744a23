//go:build amd64 || arm64

package local_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// In the server's own namespaces no program slows down all processes of its
// user, among them the server's or those of other runs. It tries with values
// that do not: the priority that it has, and one that is none.
func TestPriorityOfAllProcessesOfUser(t *testing.T) {
	const variable, ofUser, invalid = "LOCAL_TEST_PRIORITY", 3, 7 << 13
	if os.Getenv(variable) != "" {
		_, _, errno := unix.Syscall(unix.SYS_IOPRIO_SET, ofUser, 0, invalid)
		fmt.Print(unix.Setpriority(unix.PRIO_USER, 0, 0), ", ", errno, "\n")
		os.Exit(0)
	}
	backend := opener(local.Restricted)(t)
	defer backend.Close()
	skill := t.TempDir()
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(skill, "program"), string(program), 0o755)
	said := say(t, backend, sandbox.Spec{
		SkillDir: skill, Shell: `"$SKILL_DIR/program" -test.run=^` + t.Name() + `$`, Env: map[string]string{variable: "1"},
	})
	if want := fmt.Sprint(unix.EPERM, ", ", unix.EPERM, "\n"); said != want {
		t.Errorf("the calls end with %q, want %q", said, want)
	}
	asNobodyToo(t)
}
