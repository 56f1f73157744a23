//go:build amd64 || arm64

package local_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
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

// userVariable has all tests of root run as an ordinary user instead: nobody.
const userVariable = "LOCAL_TEST_USER"

func TestMain(m *testing.M) {
	if os.Getenv(userVariable) == "nobody" && os.Geteuid() == 0 {
		all := asNobody(slices.DeleteFunc(os.Args[1:], func(arg string) bool {
			return strings.HasPrefix(arg, "-test.testlogfile=") // of root
		})...)
		all.Env = append(all.Env, "TMPDIR="+os.TempDir(), userVariable+"=changed") // which a namespace of its own may not do again
		all.Stdout, all.Stderr = os.Stdout, os.Stderr
		if err := all.Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// brief reports whether less is to be tried in a way that is not the usual one:
// but where all variants are asked for, and not for one user alone.
func brief(t testing.TB) bool { return !testenv.All(t) || os.Getenv(userVariable) != "" }

// asNobody returns a command that runs tests as an ordinary user.
func asNobody(args ...string) *exec.Cmd {
	tests := exec.Command("/proc/self/exe", args...)
	tests.Dir = "/"
	tests.Env = append(testenv.Environ(), "HOME=/nonexistent", "PATH=/usr/local/bin:/usr/bin:/bin", "SECRET=of the server")
	tests.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return tests
}

// againVariable says that this process runs a test as an ordinary user that
// another runs as root.
const againVariable = "LOCAL_TEST_AGAIN"

func again() bool { return os.Getenv(againVariable) != "" }

// runAsNobody runs the test as an ordinary user.
func runAsNobody(t *testing.T) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	again := asNobody("-test.run=^"+name+"$", fmt.Sprintf("-test.v=%v", testing.Verbose()), fmt.Sprintf("-test.short=%v", testing.Short()))
	again.Env = append(again.Env, againVariable+"=yes")
	out, err := again.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	} else if testing.Verbose() {
		t.Logf("%s", out)
	}
}
