//go:build amd64 || arm64

package local_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// nobody is the ordinary user that tests of root run as once more.
const nobody = 65534

// asNobodyToo runs the test, and all below it, once more as an ordinary user,
// where this process is root and all variants are asked for.
func asNobodyToo(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	t.Run("as-nobody", func(t *testing.T) {
		testenv.Variant(t, "the same as an ordinary user")
		runAsNobody(t)
	})
}

// againVariable says that this process runs a test as an ordinary user that
// another runs as root.
const againVariable = "LOCAL_TEST_AGAIN"

func again() bool { return os.Getenv(againVariable) != "" }

// runAsNobody runs the test as an ordinary user.
func runAsNobody(t *testing.T) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	again := exec.Command("/proc/self/exe", "-test.run=^"+name+"$",
		fmt.Sprintf("-test.v=%v", testing.Verbose()), fmt.Sprintf("-test.short=%v", testing.Short()))
	again.Dir = "/"
	again.Env = append(testenv.Environ(), againVariable+"=yes", "HOME=/nonexistent", "PATH=/usr/local/bin:/usr/bin:/bin", "SECRET=of the server")
	again.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := again.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	} else if testing.Verbose() {
		t.Logf("%s", out)
	}
}
