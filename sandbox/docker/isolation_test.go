package docker_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// run runs a spec in a new workspace, unless it names one.
func run(t *testing.T, backend sandbox.Backend, spec sandbox.Spec) sandbox.Result {
	t.Helper()
	if spec.Workspace == "" {
		spec.Workspace = t.TempDir()
	}
	if spec.SkillDir == "" {
		spec.SkillDir = t.TempDir()
	}
	spec.Private = privateOf(t, spec.Workspace)
	result, err := backend.Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// ending is the exit code of a command in a program, and what it said.
type ending struct {
	code int
	said string
}

// runAll runs commands one after the other in one run, each in a shell of its
// own.
func runAll(t *testing.T, backend sandbox.Backend, skillDir string, commands []string) []ending {
	t.Helper()
	const script = `for command; do bash -c "$command" > /tmp/said 2>&1 < /dev/null; printf '%s\0%s\0' "$?" "$(head -c 2000 /tmp/said | tr -d '\0')"; done`
	result := run(t, backend, sandbox.Spec{Argv: append([]string{"bash", "-c", script, "bash"}, commands...), SkillDir: skillDir})
	fields := strings.Split(string(result.Stdout.Data), "\x00")
	if result.Status != sandbox.Exited || len(fields) != 2*len(commands)+1 {
		t.Fatalf("the commands ended with %+v", result)
	}
	endings := make([]ending, len(commands))
	for i := range endings {
		code, err := strconv.Atoi(fields[2*i])
		if err != nil {
			t.Fatal(err)
		}
		endings[i] = ending{code, fields[2*i+1]}
	}
	return endings
}

// privateOf makes the private directory of a workspace.
func privateOf(t testing.TB, workspace string) string {
	t.Helper()
	private := workspace + ".private"
	if err := os.MkdirAll(private, 0o700); err != nil {
		t.Fatal(err)
	}
	return private
}

// mount succeeds where a file system can be mounted.
const mount = `python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).mount(b"none", b"/tmp", b"tmpfs", 0, None) != 0)'`

// noSwap succeeds where control groups, of version 2 or 1, allow no swap.
const noSwap = `cd /sys/fs/cgroup; [ "$(cat memory.swap.max)" = 0 ] || [ "$(cat memory/memory.memsw.limit_in_bytes || echo none)" = "$(cat memory/memory.limit_in_bytes)" ]`

// What a program is refused. Each command must fail inside, and has a
// counterpart that shows that it fails for that reason.
func TestProgramsAreIsolated(t *testing.T) {
	t.Parallel()
	testIsolation(t, shared(t))
}

func TestProgramsAreIsolatedWithCopies(t *testing.T) {
	t.Parallel()
	testIsolation(t, sharedCopying(t))
}

func testIsolation(t *testing.T, backend sandbox.Backend) {
	t.Helper()
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	skill := t.TempDir()
	if err := os.Chmod(skill, 0o777); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ refused, allowed string }{
		"files of the host":       {"stat " + outside, "stat /etc/passwd"},
		"the skill":               {`echo x > "$SKILL_DIR/x"`, `ls "$SKILL_DIR" && echo x > "$WORKSPACE/x"`},
		"the root file system":    {"echo x > /x || echo x > /etc/x || echo x > /var/tmp/x", "{ [ -k /var/tmp ] || grep ' /var/tmp tmpfs ro,' /proc/mounts; } && echo x > /tmp/x"},
		"other users":             {`[ "$(id -u)" = 0 ]`, `[ "$(id -u)" != 0 ]`},
		"capabilities":            {`grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb):.*[1-9a-f]' /proc/self/status`, "grep -E '^CapBnd:.*0000$' /proc/self/status"},
		"privileges by setuid":    {"grep 'NoNewPrivs:.*0' /proc/self/status", "grep 'NoNewPrivs:.*1' /proc/self/status"},
		"system calls":            {"grep 'Seccomp:.*0' /proc/self/status", "grep 'Seccomp:.*2' /proc/self/status"},
		"namespaces":              {"unshare --user true || unshare --net true", "true"},
		"mounts":                  {mount, "python3 -c 'import ctypes; ctypes.CDLL(None).mount'"},
		"the network":             {"tail -n +3 /proc/net/dev | grep -v ' lo:'", "tail -n +3 /proc/net/dev | grep ' lo:'"},
		"the engine":              {"ls /var/run/docker.sock /run/docker.sock", "ls /run"},
		"the first process":       {"cat /proc/1/environ || cat /proc/1/mem || ls -l /proc/1/fd/", "cat /proc/self/environ"},
		"ending the first one":    {"kill -KILL 1; kill -TERM 1; kill -SEGV 1; kill -INT 1; sleep 0.1; false", "true"},
		"programs of other hosts": {"cat /proc/[0-9]*/comm | grep -E 'dockerd|systemd'", "cat /proc/[0-9]*/comm | grep entry"},
		"devices":                 {"mknod /workspace/d b 254 0 || cat /dev/mem || ls /dev/sda /dev/vda", "cat /dev/null"},
		"swap":                    {`! { ` + noSwap + `; }`, noSwap},
		"core dumps":              {`[ "$(ulimit -c)" != 0 ]`, `[ "$(ulimit -c)" = 0 ]`},
	}
	var names, refused, allowed []string
	for name, c := range cases {
		names, refused, allowed = append(names, name), append(refused, c.refused), append(allowed, c.allowed)
	}
	for i, end := range runAll(t, backend, skill, refused) {
		if end.code == 0 || end.code > 128 { // by a signal
			t.Errorf("%s: %s: %d, %s", names[i], refused[i], end.code, end.said)
		}
	}
	for i, end := range runAll(t, backend, skill, allowed) {
		if end.code != 0 {
			t.Errorf("%s: %s: %d, %s", names[i], allowed[i], end.code, end.said)
		}
	}
}

func TestInfoSaysWhatIsEnforced(t *testing.T) {
	t.Parallel()
	backend := shared(t)
	info := backend.Info()
	if (info.Backend != "docker" && info.Backend != "podman") || info.Tier != "container" || !strings.Contains(info.Notice, "no network") || !strings.Contains(info.Notice, "shared with the host") {
		t.Errorf("Info is %+v", info)
	}
	result := run(t, backend, sandbox.Spec{Shell: `echo "$SKILL_DIR $WORKSPACE"`})
	if want := info.SkillDir + " " + info.Workspace + "\n"; string(result.Stdout.Data) != want {
		t.Errorf("programs see %q, Info says %q", result.Stdout.Data, want)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	testLimits(t, shared(t))
}

func TestLimitsWithCopies(t *testing.T) {
	t.Parallel()
	var names []string
	if !testenv.All(t) {
		names = []string{"memory", "memory in /tmp", "memory is enough", "processes", "file size"}
	}
	testLimits(t, sharedCopying(t), names...)
}

// testLimits tests all limits, or those of some names.
func testLimits(t *testing.T, backend sandbox.Backend, names ...string) {
	t.Helper()
	const memory = 64 << 20
	const beyond = 1 << 20 // as far as the kernel lets processes go that it has killed
	hog := sandbox.Limits{MemoryBytes: memory, Timeout: time.Minute}
	for name, c := range map[string]struct {
		shell  string
		limits sandbox.Limits
		status sandbox.Status
		says   string
	}{
		"memory":               {`x=$(yes | head -c 300000000)`, hog, sandbox.OutOfMemory, ""},
		"memory of a child":    {`sh -c 'x=$(yes | head -c 300000000)'; exit $?`, hog, sandbox.OutOfMemory, ""},
		"memory of all":        {`for i in 1 2 3 4; do (x=$(yes | head -c 12000000); sleep 2; exit 0) & done; for i in 1 2 3 4; do wait -n || exit 1; done`, hog, sandbox.OutOfMemory, ""},
		"memory in /tmp":       {`head -c 60000000 /dev/zero > /tmp/a; head -c 60000000 /dev/zero > /dev/shm/b`, hog, sandbox.OutOfMemory, ""},
		"memory is enough":     {`x=$(yes | head -c 5000000); echo ${#x}`, hog, sandbox.Exited, "4999999\n"},
		"a child that is lost": {`sh -c 'x=$(yes | head -c 300000000)'; echo lived`, hog, sandbox.Exited, "lived\n"},
		"processes":            {`python3 -c 'import os, signal; [os.fork() or signal.pause() for i in range(64)]; print("never")'`, sandbox.Limits{Processes: 20, Timeout: time.Minute}, sandbox.Exited, ""},
		"fork bomb":            {`b() { b | b & }; b; sleep 1000`, sandbox.Limits{Processes: 64, Timeout: 3 * time.Second}, sandbox.TimedOut, ""},
		"open files":           {`ulimit -n`, sandbox.Limits{OpenFiles: 123}, sandbox.Exited, "123\n"},
		"file size":            {`head -c 2000 /dev/zero > f; stat -c %s f`, sandbox.Limits{FileBytes: 1000}, sandbox.Exited, "1000\n"},
	} {
		if names != nil && !slices.Contains(names, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			result := run(t, backend, sandbox.Spec{Shell: c.shell, Limits: c.limits})
			if result.Status != c.status || string(result.Stdout.Data) != c.says {
				t.Errorf("ended as %s, exit code %d, signal %q, after %v, want %s\nstdout %q\nstderr %q",
					result.Status, result.ExitCode, result.Signal, time.Since(begun), c.status, result.Stdout.Data, result.Stderr.Data)
			}
			if result.PeakMemoryBytes <= 0 && c.status != sandbox.TimedOut {
				t.Errorf("the peak of memory is %d", result.PeakMemoryBytes)
			}
			if result.Status == sandbox.OutOfMemory && (result.PeakMemoryBytes < memory/2 || result.PeakMemoryBytes > memory+beyond) {
				t.Errorf("the peak of memory is %d, the limit %d", result.PeakMemoryBytes, memory)
			}
		})
	}
}

// The first process of a container has all its threads before its program
// starts, however the kernel schedules them: a program may leave it no more.
func TestThreadsAreThereBeforeTheProgram(t *testing.T) {
	t.Parallel()
	backend := shared(t)
	for range 5 {
		result := run(t, backend, sandbox.Spec{Shell: `awk '$1 == "Threads:" { exit $2 < 10 }' /proc/1/status || grep Threads: /proc/1/status`})
		if len(result.Stdout.Data) > 0 || result.ExitCode != 0 {
			t.Errorf("threads of the first process: %q, %q", result.Stdout.Data, result.Stderr.Data)
		}
	}
}

// Where there is no memory left the kernel kills programs first, then what is in
// reserve for the time after them, and the first process last. A program may kill
// the reserve, and ends as others do.
func TestFirstProcessIsKilledLast(t *testing.T) {
	t.Parallel()
	// The first process has the program's own score until it knows that the program
	// was started.
	const scores = `until [ "$(cat /proc/1/oom_score_adj)" -lt "$(cat /proc/$$/oom_score_adj)" ]; do :; done
		for each in $(grep -lx entry /proc/[0-9]*/comm) /proc/$$/comm; do cat "${each%comm}oom_score_adj"; done; kill -KILL -1; echo went on`
	for name, backend := range map[string]sandbox.Backend{"binds": shared(t), "copies": sharedCopying(t)} {
		result := run(t, backend, sandbox.Spec{Shell: scores})
		var first, reserve, program int
		var went string
		if _, err := fmt.Sscanf(string(result.Stdout.Data), "%d\n%d\n%d\n%s", &first, &reserve, &program, &went); err != nil {
			t.Errorf("%s: %v: %q, %q", name, err, result.Stdout.Data, result.Stderr.Data)
		}
		if first >= reserve || reserve >= program || went != "went" || result.ExitCode != 0 || len(result.LeftBehind) > 0 {
			t.Errorf("%s: scores %d, %d and %d; %q, %+v", name, first, reserve, program, result.Stdout.Data, result)
		}
	}
}

func TestUsageIsMeasured(t *testing.T) {
	t.Parallel()
	backend := shared(t)
	result := run(t, backend, sandbox.Spec{Shell: `i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 0.1`})
	if result.CPUTime <= 0 || result.CPUTime > result.Duration || result.Duration < 100*time.Millisecond {
		t.Errorf("CPU time %v of %v", result.CPUTime, result.Duration)
	}
}

func TestArgumentsThatAreTooLong(t *testing.T) {
	t.Parallel()
	backend := shared(t)
	for _, length := range []int{100_000, 3 << 20, 20 << 20} { // of which the system takes the first
		_, err := backend.Run(t.Context(), sandbox.Spec{
			Argv: append([]string{"true"}, slices.Repeat([]string{strings.Repeat("x", 1000)}, length/1000)...), Workspace: t.TempDir(),
		})
		setup := new(sandbox.SetupError)
		if refused := errors.As(err, &setup) && setup.Rule == "arguments-too-long"; refused != (length > 1<<20) {
			t.Errorf("%d bytes of arguments give %v", length, err)
		}
	}
}
