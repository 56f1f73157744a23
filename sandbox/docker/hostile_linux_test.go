package docker_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// backends are all ways in which files get to a container.
var backends = map[string]func(testing.TB) sandbox.Backend{
	"shared": func(t testing.TB) sandbox.Backend { return shared(t) },
	"copied": func(t testing.TB) sandbox.Backend { return sharedCopying(t) },
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

// No signal ends the first process, not even one that says to be a fault of it,
// and not after the program's end, when output is ready to be read.
func TestProgramsCannotEndTheirInit(t *testing.T) {
	t.Parallel()
	for name, open := range backends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := python(`
import ctypes, fcntl, os, signal
libc = ctypes.CDLL(None)
open("changed", "wb").write(os.urandom(4 << 20))
for number in range(1, 65):
    for _ in range(10):
        libc.kill(1, number)
        libc.sigqueue(1, number, 0)
F_SETSIG = 10
for stream in (1, 2):
    fcntl.fcntl(stream, fcntl.F_SETOWN, 1)
    fcntl.fcntl(stream, F_SETSIG, signal.SIGSEGV)
    fcntl.fcntl(stream, fcntl.F_SETFL, os.O_ASYNC)
print("end")
`)
			spec.Workspace = t.TempDir()
			result := run(t, open(t), spec)
			if result.Status != sandbox.Exited || string(result.Stdout.Data) != "end\n" || result.ChangesLost {
				t.Errorf("%+v: %s", result, result.Stderr.Data)
			}
			if info, err := os.Stat(filepath.Join(spec.Workspace, "changed")); err != nil || info.Size() != 4<<20 {
				t.Errorf("what it changed: %v, %v", info, err)
			}
		})
	}
}

// A program shares its streams with the first process, with all flags.
func TestFlagsOfStreamsDoNotOutliveThePrograms(t *testing.T) {
	t.Parallel()
	backend := sharedCopying(t)
	for _, flag := range []string{"O_NONBLOCK", "O_DIRECT", "O_ASYNC", "O_APPEND"} {
		spec := python(`
import fcntl, os
open("changed", "wb").write(os.urandom(4 << 20))
for stream in (1, 2):
    fcntl.fcntl(stream, fcntl.F_SETFL, os.` + flag + `)
    fcntl.fcntl(stream, 1031, 4096) # F_SETPIPE_SZ
`)
		spec.Workspace = t.TempDir()
		if result := run(t, backend, spec); result.Status != sandbox.Exited || result.ChangesLost {
			t.Errorf("%s: %+v: %s", flag, result, result.Stderr.Data)
		}
		if info, err := os.Stat(filepath.Join(spec.Workspace, "changed")); err != nil || info.Size() != 4<<20 {
			t.Errorf("%s: what it changed: %v, %v", flag, info, err)
		}
	}
}

// What is left of a program without any process may be all the memory there
// is: files of no length, in directories that cannot be read too, more
// directories in each other than can be opened at once, and shared memory.
func TestLeftMemoryDoesNotKeepChangesBack(t *testing.T) {
	t.Parallel()
	backend := sharedCopying(t)
	for name, fill := range map[string]string{
		"files":          `os.chdir("/tmp"); each = lambda n: os.close(os.open(str(n), os.O_CREAT | os.O_WRONLY))`,
		"unread":         `os.mkdir("/tmp/d"); os.chdir("/tmp/d"); os.chmod(".", 0o300); each = lambda n: os.close(os.open(str(n), os.O_CREAT | os.O_WRONLY))`,
		"deep":           `os.chdir("/tmp"); each = lambda n: (os.mkdir("d"), os.chdir("d"))`,
		"wide":           `os.chdir("/tmp"); each = lambda n: (os.mkdir(str(n)), os.mkdir(str(n) + "/d"))`,
		"deep workspace": `each = lambda n: (os.mkdir("d"), os.chdir("d"))`,
		"messages":       `libc = ctypes.CDLL(None); message = b"12345678" * 1000; each = lambda n: [exit(1) for _ in range(2) if libc.msgsnd(libc.msgget(n + 1, 0o1600), message, 7000, 0) != 0]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := python("import ctypes, itertools, os\nopen('changed', 'w').write('changed')\n" + fill + "\nfor n in itertools.count(): each(n)")
			spec.Workspace, spec.Limits = t.TempDir(), sandbox.Limits{MemoryBytes: 64 << 20, OpenFiles: 1 << 16}
			result := run(t, backend, spec)
			if result.ChangesLost || result.Status == sandbox.TimedOut {
				t.Errorf("%+v: %s", result, result.Stderr.Data)
			}
			if content, err := os.ReadFile(filepath.Join(spec.Workspace, "changed")); string(content) != "changed" {
				t.Errorf("what it changed: %q, %v", content, err)
			}
		})
	}
}

// In a workspace that is full, programs can tidy up.
func TestFullWorkspaceCanBeTidiedUpWithCopies(t *testing.T) {
	t.Parallel()
	backend := sharedCopying(t)
	workspace := t.TempDir()
	in := func(name string) string { return filepath.Join(workspace, name) }
	content := strings.Repeat("x", 2<<20)
	if err := errors.Join(os.WriteFile(in("large"), []byte(content), 0o644), os.WriteFile(in("other"), []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
	result := run(t, backend, sandbox.Spec{
		Shell: "mkdir -p kept && mv large kept/renamed && rm other", Workspace: workspace, Limits: sandbox.Limits{WorkspaceBytes: 1 << 20},
	})
	if result.ChangesLost || result.ExitCode != 0 {
		t.Errorf("%+v: %s", result, result.Stderr.Data)
	}
	if got, err := os.ReadFile(in("kept/renamed")); string(got) != content {
		t.Errorf("the renamed file has %d bytes, %v", len(got), err)
	}
	for _, name := range []string{"large", "other"} {
		if _, err := os.Stat(in(name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

// What does not fit on the server's disk is told, and costs nothing that was
// there.
func TestFullDiskIsTold(t *testing.T) {
	t.Parallel()
	backend := sharedCopying(t)
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a small file system")
	}
	workspace := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "none", workspace).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() {
		// Lazily, since a process that another test is starting may have a file
		// there open until it executes its program.
		if out, err := exec.Command("umount", "--lazy", workspace).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	in := func(name string) string { return filepath.Join(workspace, name) }
	if err := os.WriteFile(in("old"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	result := run(t, backend, sandbox.Spec{Shell: "head -c 8000000 /dev/urandom > big && mv old new", Workspace: workspace})
	if result.ExitCode != 0 || !result.ChangesLost {
		t.Errorf("%+v: %s", result, result.Stderr.Data)
	}
	one, _ := os.ReadFile(in("old"))
	other, _ := os.ReadFile(in("new"))
	if string(one) != "text" && string(other) != "text" {
		t.Errorf("a file is lost by its renaming")
	}
	if left, err := filepath.Glob(filepath.Join(workspace, sandbox.PrivateDir, ".incoming-*")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	if result := run(t, backend, sandbox.Spec{Shell: "rm -f old && echo text > new", Workspace: workspace}); result.ChangesLost {
		t.Errorf("once there is space: %+v", result)
	}
}
