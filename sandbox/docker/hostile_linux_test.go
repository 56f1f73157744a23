package docker_test

import (
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// backends are all ways in which files get to a container.
var backends = map[string]func(testing.TB) sandbox.Backend{
	"shared": func(t testing.TB) sandbox.Backend { return openUntilEnd(t) },
	"copied": func(t testing.TB) sandbox.Backend { return openCopying(t) },
}

// python runs a script that is its standard input.
func python(script string) sandbox.Spec {
	return sandbox.Spec{Shell: "python3 -", Stdin: []byte(script)}
}

// An init that runs only when nobody else wants to could not kill, nor die of
// SIGKILL: the program would go on after its time, whatever the engine does.
func TestProgramsCannotStarveTheirInit(t *testing.T) {
	t.Parallel()
	for name, open := range backends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := run(t, open(t), python(`
import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
arm = platform.machine() == "aarch64"
sched_setattr, ioprio_set = (274, 30) if arm else (314, 251)
attr = (ctypes.c_uint32 * 12)(48, 5) # SCHED_IDLE
def call(number, *arguments):
    if libc.syscall(number, *arguments) != 0:
        raise OSError(ctypes.get_errno(), "")
ways = {
    "affinity": lambda who: os.sched_setaffinity(who, {0}),
    "scheduler": lambda who: os.sched_setscheduler(who, os.SCHED_IDLE, os.sched_param(0)),
    "param": lambda who: os.sched_setparam(who, os.sched_param(0)),
    "attr": lambda who: call(sched_setattr, who, attr, 0),
    "priority": lambda who: os.setpriority(os.PRIO_PROCESS, who, 19),
    "priority of group": lambda who: os.setpriority(os.PRIO_PGRP, who, 19),
    "priority of user": lambda who: os.setpriority(os.PRIO_USER, os.getuid(), 19),
    "input": lambda who: call(ioprio_set, 1, who, 3 << 13),
    "input of group": lambda who: call(ioprio_set, 2, who, 3 << 13),
    "input of user": lambda who: call(ioprio_set, 3, os.getuid(), 3 << 13),
}
threads = [int(name) for name in os.listdir("/proc/1/task")]
assert 1 in threads and len(threads) > 8, threads
for name, way in ways.items():
    for who in threads:
        try:
            way(who)
            print("open:", name, who)
        except PermissionError:
            pass
        except ProcessLookupError: # no group has this number
            assert "group" in name and who != 1
    for who in (0, os.getpid()):
        if "user" not in name:
            way(who)
print("end")
`))
			if string(result.Stdout.Data) != "end\n" {
				t.Errorf("%s%s", result.Stdout.Data, result.Stderr.Data)
			}
		})
	}
}
