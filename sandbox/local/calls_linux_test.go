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

// No program makes whoever changes a directory wait and tell of it, where the
// kernel can. In the server's own namespaces none slows down all processes of
// its user, among them the server's or those of other runs; it tries with values
// that do not: the priority that it has, and one that is none.
func TestCallsThatReachOthers(t *testing.T) {
	const variable, ofUser, invalid = "LOCAL_TEST_CALLS", 3, 7 << 13
	if os.Getenv(variable) != "" {
		_, _, errno := unix.Syscall(unix.SYS_IOPRIO_SET, ofUser, 0, invalid)
		raised, _ := unix.Getpriority(unix.PRIO_PROCESS, 0) // 1 to 40, the greatest where niceness is least
		_, delegated := unix.FcntlInt(0, unix.F_SETDELEG, 0)
		fmt.Print(delegated, ", ", unix.Setpriority(unix.PRIO_USER, 0, 20-raised), ", ", errno, "\n")
		os.Exit(0)
	}
	skill := t.TempDir()
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(skill, "program"), string(program), 0o755)
	refused := unix.EPERM.Error()
	for tier, want := range map[local.Tier]string{
		local.Full:       fmt.Sprint(refused, ", ", refused, ", ", unix.EINVAL, "\n"), // the second by the kernel
		local.Restricted: fmt.Sprint(refused, ", ", refused, ", ", refused, "\n"),
	} {
		backend := opener(tier)(t)
		defer backend.Close()
		said := say(t, backend, sandbox.Spec{
			SkillDir: skill, Shell: `"$SKILL_DIR/program" -test.run=^` + t.Name() + `$`, Env: map[string]string{variable: "1"},
		})
		if said != want {
			t.Errorf("%s: the calls end with %q, want %q", tier, said, want)
		}
	}
	asNobodyToo(t)
}
