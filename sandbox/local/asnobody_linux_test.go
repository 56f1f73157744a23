//go:build amd64 || arm64

package local_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// nobody is the ordinary user that tests of root run as once more.
const nobody = 65534

// asNobodyToo runs the test, and all below it, once more as an ordinary user,
// where this process is root.
func asNobodyToo(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	t.Run("as-nobody", func(t *testing.T) {
		name, _, _ := strings.Cut(t.Name(), "/")
		again := exec.Command("/proc/self/exe", "-test.run=^"+name+"$", "-test.v="+boolean(testing.Verbose()))
		again.Dir = "/"
		again.Env = []string{"HOME=/nonexistent", "PATH=/usr/local/bin:/usr/bin:/bin", "SECRET=of the server"}
		again.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		out, err := again.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		} else if testing.Verbose() {
			t.Logf("%s", out)
		}
	})
}

func boolean(value bool) string {
	if value {
		return "true"
	}
	return "false"
}
