package sandboxtest

import (
	"os/signal"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// testSignalsDefault has this process ignore signals as nohup and make have
// what they start: programs ignore and block none.
func testSignalsDefault(t *testing.T, f *fixture) {
	signal.Ignore(unix.SIGHUP)
	defer signal.Reset(unix.SIGHUP)
	const cancel, setxid = 32, 33 // of the C library; os/signal does not know them
	for _, number := range []uintptr{cancel, setxid} {
		before := setAction(number, [4]uint64{1}) // SIG_IGN
		defer setAction(number, before)
	}
	for range 3 { // also those in what was made ready before
		out := f.succeed(t, sandbox.Spec{Argv: []string{"grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status"}})
		if strings.Count(out, "\t0000000000000000\n") != 2 {
			t.Errorf("the program starts with %q", out)
		}
	}
}

// setAction sets what a signal does, a struct sigaction of the kernel, and
// returns what it did.
func setAction(number uintptr, action [4]uint64) (before [4]uint64) {
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, number,
		uintptr(unsafe.Pointer(&action)), uintptr(unsafe.Pointer(&before)), unsafe.Sizeof(action[0]), 0, 0)
	return before
}
