//go:build amd64 || arm64

package local_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// What the notice says where runs are not bounded as a whole, where Landlock
// knows nothing of signals, and where programs are not another user than the
// server.
const (
	filesOfServer   = "can change the mode and times of files of the server's user"
	memoryOfEach    = "bounded for each process"
	processesOfAll  = "number of processes is not bounded"
	timeOfAll       = "Processor time is not bounded"
	signalsToOthers = "can send signals"
)

// patience bounds what is expected to happen soon.
const patience = 30 * time.Second

// whoseBounds is what must hold on this machine, where who knows it says so:
// the bounds are those of "each" process, or of the run as a "whole".
func whoseBounds() string { return os.Getenv("LOCAL_TEST_BOUNDS") }

// isBoundedAsAWhole reports whether the memory of a run is.
func isBoundedAsAWhole(t *testing.T, backend sandbox.Backend) bool {
	t.Helper()
	info := backend.Info()
	whole := !strings.Contains(info.Notice, memoryOfEach)
	switch {
	case whole && whoseBounds() == "each", !whole && whoseBounds() == "whole":
		t.Errorf("%s: the bounds must be those of %s, but: %s", info.Tier, whoseBounds(), info.Notice)
	case !whole:
		t.Logf("%s: there is no memory cgroup to use", info.Tier)
	}
	return whole
}

func TestBoundsAreStated(t *testing.T) {
	for _, tier := range []local.Tier{local.Full, local.Restricted} {
		backend := opener(tier)(t)
		defer backend.Close()
		whole := isBoundedAsAWhole(t, backend)
		notice := backend.Info().Notice
		if strings.Contains(notice, processesOfAll) != (tier == local.Restricted && !whole) {
			t.Errorf("%s: of processes it says: %s", tier, notice)
		}
	}
}

func TestProcessesAreBounded(t *testing.T) {
	for _, tier := range []local.Tier{local.Full, local.Restricted} {
		backend := opener(tier)(t)
		defer backend.Close()
		if strings.Contains(backend.Info().Notice, processesOfAll) {
			t.Logf("%s: there is no cgroup to use", tier)
			continue
		}
		result, err := backend.Run(t.Context(), sandbox.Spec{
			Shell:     `exec sh -c 'i=0; while [ $i -lt 60 ]; do sleep 30 & i=$((i+1)); done; echo all'`,
			Workspace: t.TempDir(),
			Limits:    sandbox.Limits{Processes: 20},
		})
		if err != nil || strings.Contains(string(result.Stdout.Data), "all") {
			t.Errorf("%s: 60 processes were started: %+v, %v", tier, result, err)
		}
	}
}

// The kernel lets a run have the processor time that it may have, and one that may
// have all there is is in no cgroup for it.
func TestProcessorTimeIsBounded(t *testing.T) {
	for _, tier := range []local.Tier{local.Full, local.Restricted} {
		for milli, want := range map[int]string{500: "50000", 250: "25000", 1024_000: ""} {
			backend := opener(tier)(t)
			if strings.Contains(backend.Info().Notice, timeOfAll) {
				t.Logf("%s: there is no cgroup to use", tier)
				backend.Close()
				break
			}
			quota, dir := "none was looked at", fifoDir(t)
			result, err := backend.Run(t.Context(), sandbox.Spec{
				Shell: `echo there; read line < fifo`, Workspace: dir, Limits: sandbox.Limits{MilliCPUs: milli},
				Progress: func(string) {
					quota = quotasOfRuns(t)
					if err := os.WriteFile(filepath.Join(dir, "fifo"), []byte("go\n"), 0); err != nil {
						t.Error(err)
					}
				},
			})
			backend.Close()
			if err != nil || quota != want {
				t.Errorf("%s: with %d thousandths the quota is %q, want %q: %+v, %v", tier, milli, quota, want, result, err)
			}
		}
	}
}

// fifoDir returns a directory with a FIFO that can be read once.
func fifoDir(t *testing.T) string {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := errors.Join(unix.Mkfifo(fifo, 0o666), os.Chmod(fifo, 0o666)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// quotasOfRuns returns the quotas of processor time that this process has set.
func quotasOfRuns(t *testing.T) string {
	var quotas []string
	err := filepath.WalkDir("/sys/fs/cgroup", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasPrefix(entry.Name(), fmt.Sprintf("skills-mcp-%d-", os.Getpid())) {
			return nil
		}
		for _, name := range []string{"cpu.max", "cpu.cfs_quota_us"} {
			content, _ := os.ReadFile(filepath.Join(path, name))
			if inside, _ := os.ReadFile(filepath.Join(path, "cgroup.procs")); len(inside) == 0 {
				continue // it bounds nothing
			}
			if fields := strings.Fields(string(content)); len(fields) > 0 && fields[0] != "max" && fields[0] != "-1" {
				quotas = append(quotas, fields[0])
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return strings.Join(slices.Compact(quotas), " ") // one may be ready for the next run
}

// A server that the kernel must not kill for memory runs programs that it may.
func TestMemoryOfProtectedServerIsBounded(t *testing.T) {
	const variable = "LOCAL_TEST_PROTECTED"
	if os.Getenv(variable) == "" {
		if os.Geteuid() != 0 {
			t.Skip("only root can protect a process")
		}
		again := exec.Command("/proc/self/exe", "-test.v", "-test.run=^"+t.Name()+"$")
		again.Env = append(os.Environ(), variable+"=1")
		switch out, err := again.CombinedOutput(); {
		case err != nil:
			t.Errorf("%v\n%s", err, out)
		case strings.Contains(string(out), "SKIP"):
			t.Skipf("%s", out)
		}
		return
	}
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("-1000"), 0); err != nil {
		t.Skip(err)
	}
	TestMemoryIsBounded(t)
}

// A program that can kill its supervisor gains nothing: its processes die with
// the run. Without a cgroup that the kernel can kill, the tier restricted
// would not find them; newer kernels do not let it kill in the first place.
func TestProgramKillsItsSupervisor(t *testing.T) {
	backend := opener(local.Restricted)(t)
	defer backend.Close()
	if !isBoundedAsAWhole(t, backend) {
		t.Skip("there is no cgroup to use")
	}
	workspace := t.TempDir()
	watch := watchFIFO(t, filepath.Join(workspace, "fifo"))
	result, err := backend.Run(t.Context(), sandbox.Spec{
		Workspace: workspace,
		Shell: `setsid env -i sh -c 'exec 9> fifo >/dev/null 2>&1; echo alive >&9; touch started; sleep 1000' &
			until test -e started; do sleep 0.01; done; kill -KILL $PPID || exit 3; sleep 1000`,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the run ended as %q, exit code %d", result.Status, result.ExitCode)
	if err := untilClosed(watch); err != nil {
		t.Errorf("a process outlives its run: %v", err)
	}
}

// watchFIFO makes a FIFO and opens it without waiting for the other end.
func watchFIFO(t *testing.T, name string) *os.File {
	t.Helper()
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o666); err != nil {
		t.Fatal(err)
	}
	watch, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { watch.Close() })
	return watch
}

// untilClosed reads until no process has the other end of a FIFO open.
func untilClosed(watch *os.File) error {
	if err := watch.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	for buf := make([]byte, 64); ; {
		if n, err := watch.Read(buf); n == 0 {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return err
			}
			return nil
		}
	}
}

// Neither a server that ends nor one that is killed leaves a cgroup, at the
// latest once the next one has started.
func TestNoCgroupIsLeft(t *testing.T) {
	const variable = "LOCAL_TEST_SERVER"
	if workspace := os.Getenv(variable); workspace != "" {
		backend := opener(local.Full)(t)
		defer backend.Close()
		backend.Run(t.Context(), sandbox.Spec{Workspace: workspace, Shell: "echo >> fifo; sleep 1000"})
		return
	}
	workspace := t.TempDir()
	watch := watchFIFO(t, filepath.Join(workspace, "fifo"))
	server := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
	server.Env = append(os.Environ(), variable+"="+workspace)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	awaitNoError(t, func() error {
		_, err := watch.Read(make([]byte, 1)) // nothing as long as nobody has opened the other end
		return err
	})
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait() // killed
	backend := opener(local.Full)(t)
	backend.Run(t.Context(), sandbox.Spec{Workspace: t.TempDir(), Shell: "true"})
	if err := backend.Close(); err != nil {
		t.Fatal(err)
	}
	awaitNoError(t, func() error {
		return errors.Join(noCgroupOf(server.Process.Pid), noCgroupOf(os.Getpid()))
	})
}

// A scope of systemd may end before the server does, such as by systemctl stop.
func TestScopeThatHasEndedIsReplaced(t *testing.T) {
	backend := opener(local.Full)(t)
	defer backend.Close()
	holders, err := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/*.slice/skills-mcp-%d-*.scope/holder", os.Getpid()))
	more, _ := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/user.slice/*/*/*/skills-mcp-%d-*.scope/holder", os.Getpid()))
	if holders = append(holders, more...); err != nil || len(holders) != 1 {
		t.Skipf("no scope is held, but %d: %v", len(holders), err)
	}
	// Whatever is in it dies, what is ready for the next run too.
	if err := os.WriteFile(filepath.Join(filepath.Dir(holders[0]), "cgroup.kill"), []byte("1"), 0); err != nil {
		t.Fatal(err)
	}
	awaitNoError(t, func() error {
		if _, err := os.Stat(holders[0]); err == nil {
			return errors.New("the scope is still there")
		}
		return nil
	})
	if result, err := backend.Run(t.Context(), sandbox.Spec{Workspace: t.TempDir(), Shell: "exit 7"}); err != nil || result.ExitCode != 7 || result.PeakMemoryBytes == 0 {
		t.Errorf("the run ended with %+v, %v", result, err)
	}
}

// awaitNoError waits until there is none any more.
func awaitNoError(t *testing.T, check func() error) {
	t.Helper()
	err := check()
	for deadline := time.Now().Add(patience); err != nil; err = check() {
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// noCgroupOf finds the cgroups of a server, but those that it is in itself.
func noCgroupOf(pid int) error {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return err
	}
	var left []error
	err = filepath.WalkDir("/sys/fs/cgroup", func(path string, entry fs.DirEntry, err error) error {
		name := fmt.Sprintf("skills-mcp-%d-", pid)
		if err == nil && strings.HasPrefix(entry.Name(), name) && !strings.Contains(string(own), entry.Name()) {
			left = append(left, fmt.Errorf("%s is left", path))
		}
		return nil // others come and go
	})
	return errors.Join(append(left, err)...)
}
