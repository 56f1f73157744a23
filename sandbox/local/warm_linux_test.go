//go:build amd64 || arm64

package local_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testprocess"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// openTier opens a backend that has run a program, and so has a warm jail process.
func openTier(t *testing.T, tier local.Tier) *local.Backend {
	t.Helper()
	backend := opener(tier)(t).(*local.Backend)
	t.Cleanup(func() { backend.Close() })
	say(t, backend, sandbox.Spec{Shell: "true"})
	if backend.WarmPID() == 0 {
		t.Fatal("there is no warm jail process")
	}
	return backend
}

// say runs a program and returns what it writes.
func say(t *testing.T, backend sandbox.Backend, spec sandbox.Spec) string {
	t.Helper()
	if spec.Workspace == "" {
		spec.Workspace = t.TempDir()
	}
	result, err := backend.Run(t.Context(), spec)
	if err != nil || result.Status != sandbox.Exited {
		t.Fatalf("ended as %q: %v; stderr %q", result.Status, err, result.Stderr.Data)
	}
	return string(result.Stdout.Data)
}

// network returns the network namespace of a process, or nothing where it may not
// be known.
func network(pid int) string {
	link, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
	return link
}

// A jail process that was ready is used, once.
func TestSparesAreUsedOnce(t *testing.T) {
	t.Parallel()
	for _, tier := range []local.Tier{local.Full, local.Restricted} {
		backend := openTier(t, tier)
		for range 3 {
			program, want := `ls -A /tmp; touch /tmp/left; readlink /proc/self/ns/net; sleep 1000 &`, ""
			if tier == local.Full {
				want = network(backend.WarmPID())
			} else {
				program, want = `echo $PPID; sleep 1000 &`, strconv.Itoa(backend.WarmPID())
			}
			if got := say(t, backend, sandbox.Spec{Shell: program}); want != "" && got != want+"\n" {
				t.Errorf("%s: the program ran in %q, want %q and no file", tier, got, want)
			}
		}
	}
	asNobodyToo(t)
}

// A run waits for the jail process that is being made, and a second one does not.
func TestRunsTakeWhatIsBeingMade(t *testing.T) {
	t.Parallel()
	backend := openTier(t, local.Restricted)
	pid := backend.WarmPID()
	claimed, ready := backend.Unready()
	supervisorOf := sandbox.Spec{Shell: "echo $PPID", Workspace: t.TempDir()}
	first := make(chan string)
	go func() {
		result, err := backend.Run(t.Context(), supervisorOf)
		first <- fmt.Sprint(string(result.Stdout.Data), err)
	}()
	awaitNoError(t, func() error {
		if !claimed() {
			return errors.New("the run does not wait")
		}
		return nil
	})
	if got := say(t, backend, supervisorOf); got == fmt.Sprintln(pid) {
		t.Error("two runs had one jail process")
	}
	ready()
	if got, want := <-first, fmt.Sprint(fmt.Sprintln(pid), nil); got != want {
		t.Errorf("the run that waited was below %q, want %q", got, want)
	}
}

// Anything may kill a jail process that waits.
func TestLostSparesAreReplaced(t *testing.T) {
	t.Parallel()
	for _, tier := range []local.Tier{local.Full, local.Restricted} {
		backend := openTier(t, tier)
		if err := unix.Kill(backend.WarmPID(), unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		workspace := t.TempDir()
		if got := say(t, backend, sandbox.Spec{Shell: "echo ran >> log; cat log", Stdin: []byte("x"), Workspace: workspace}); got != "ran\n" {
			t.Errorf("the log is %q", got)
		}
	}
	asNobodyToo(t)
}

// A jail process has the limits that it was made with.
func TestSparesForOtherLimitsAreNotUsed(t *testing.T) {
	t.Parallel()
	backend := openTier(t, local.Full)
	if strings.Contains(backend.Info().Notice, "bounded for each process") {
		t.Skip("this machine has no memory cgroup to use")
	}
	warm := backend.WarmPID()
	hog := sandbox.Spec{Shell: "head -c 60000000 /dev/zero | tail -c 60000000 | wc -c", Workspace: t.TempDir()}
	hog.Limits.MemoryBytes = 32 << 20
	result, err := backend.Run(t.Context(), hog)
	if err != nil || result.Status != sandbox.OutOfMemory {
		t.Errorf("ended as %q: %v", result.Status, err)
	}
	backend.AwaitWarm()
	if testprocess.Alive(warm) {
		t.Error("the jail process that does not fit is there still")
	}
}

func TestCloseEndsSpares(t *testing.T) {
	t.Parallel()
	for _, tier := range []local.Tier{local.Full, local.Restricted} {
		backend := openTier(t, tier)
		warm := backend.WarmPID()
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
		if testprocess.Alive(warm) {
			t.Error("the jail process is there after Close")
		}
	}
}

// What is mounted after a jail process was made is seen in it: the directory
// below, as its namespace has it, may be another's. The test runs again where
// it may mount.
func TestNewMountsAreSeen(t *testing.T) {
	const variable = "LOCAL_TEST_MOUNTS"
	if os.Getenv(variable) == "" {
		again := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
		again.Env = append(os.Environ(), variable+"=1")
		again.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		}
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	backend := openTier(t, local.Full)
	mount := func(dir string) {
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Unmount(dir, 0) })
	}
	mount(t.TempDir())
	want := network(backend.WarmPID())
	if got := say(t, backend, sandbox.Spec{Shell: "readlink /proc/self/ns/net"}); got != want+"\n" {
		t.Errorf("a mount that is no matter of the run's has it start in %q, not in %q", got, want)
	}
	skill := t.TempDir()
	spec := sandbox.Spec{Shell: `cat "$SKILL_DIR/which"`, SkillDir: skill}
	which := filepath.Join(skill, "which")
	for _, content := range []string{"below", "mounted"} {
		if content == "mounted" {
			mount(skill)
		}
		if err := os.WriteFile(which, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := say(t, backend, spec); got != content {
			t.Errorf("the program sees the skill %q, want %q", got, content)
		}
		backend.AwaitWarm()
	}
	const below = "/usr/local" // the system's directory
	mount(below)
	if err := os.WriteFile(filepath.Join(below, "which"), []byte("below"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := say(t, backend, sandbox.Spec{Shell: "cat " + below + "/which"}); got != "below" {
		t.Errorf("the program sees %q in what is mounted below a directory of the system", got)
	}
}

// What was replaced since a jail process was made makes it useless.
func TestReplacedFilesOfTheSystemAreNoticed(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "ld.so.cache")
	writeFile(t, name, "old", 0o644)
	for change, replace := range map[string]func(){
		"nothing": func() {},
		"replaced": func() {
			writeFile(t, name+".new", "new", 0o644)
			if err := os.Rename(name+".new", name); err != nil {
				t.Error(err)
			}
		},
		"removed": func() {
			if err := os.Remove(name); err != nil {
				t.Error(err)
			}
		},
	} {
		writeFile(t, name, "old", 0o644)
		changed, err := local.SystemChanged(name, replace)
		if err != nil || changed != (change != "nothing") {
			t.Errorf("%s: changed is %t, %v", change, changed, err)
		}
	}
}
