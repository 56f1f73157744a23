//go:build amd64 || arm64

package local_test

import (
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

var seed = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the moments at which servers are killed")

// What makes this test a server, that of a tier, with programs that sleep for
// so many seconds, by which they are known.
const (
	busyTierVariable  = "LOCAL_TEST_BUSY_TIER"
	busySleepVariable = "LOCAL_TEST_BUSY_SLEEP"
)

// busyPrograms leave processes behind in every way there is.
var busyPrograms = []string{
	`sleep $T`,
	`sleep $T & exit 0`,
	`(setsid sh -c 'trap "" HUP INT TERM; setsid sleep $T > /dev/null 2>&1 & sleep $T' &); sleep $T`,
	`sh -c 'setsid env -i sleep '$T' &'; head -c 3000000 /dev/zero; sleep $T`,
}

// Whenever a server is killed, nothing of its runs lives soon after; and once
// the next one has started, nothing at all is left of it.
func TestServersAreKilledAtAnyMoment(t *testing.T) {
	if tier := os.Getenv(busyTierVariable); tier != "" {
		serveBusily(t, local.Tier(tier))
	}
	testenv.Slow(t, "kills many servers")
	const servers, window = 10, 500 * time.Millisecond
	rounds := testenv.Rounds(t, 1, 5)
	random := rand.New(rand.NewPCG(*seed, 0))
	t.Logf("-seed=%d", *seed)
	sleep := fmt.Sprintf("1000.%d", os.Getpid())
	for _, tier := range []local.Tier{local.Full, local.Restricted} {
		temporary := t.TempDir()
		t.Setenv("TMPDIR", temporary)
		for range rounds {
			var pids []int
			var killed sync.WaitGroup
			for range servers {
				server := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
				server.Env = append(os.Environ(), busyTierVariable+"="+string(tier), busySleepVariable+"="+sleep)
				server.Stdout = os.Stderr
				if err := server.Start(); err != nil {
					t.Fatal(err)
				}
				pids = append(pids, server.Process.Pid)
				moment := time.Duration(random.Int64N(int64(window)))
				killed.Go(func() {
					time.Sleep(moment)
					server.Process.Kill()
					server.Wait()
				})
			}
			killed.Wait()
			expectNone(t, "processes", func() []string { return processesOf(sleep) })
			opener(tier)(t).Close()
			expectNone(t, "cgroups", func() []string { return cgroupsOf(t, pids) })
			expectNone(t, "mounts", func() []string { return mountsBelow(t, temporary) })
			expectNone(t, "directories", func() []string { return probesIn(t, temporary) })
		}
	}
	asNobodyToo(t)
}

// serveBusily runs one program after the other, some of them at once, until it
// is killed.
func serveBusily(t *testing.T, tier local.Tier) {
	backend := opener(tier)(t)
	for _, program := range busyPrograms {
		workspace := t.TempDir()
		go func() {
			for t.Context().Err() == nil {
				_, err := backend.Run(t.Context(), sandbox.Spec{
					Shell: program, Env: map[string]string{"T": os.Getenv(busySleepVariable)}, Workspace: workspace,
					Limits: sandbox.Limits{Timeout: 50 * time.Millisecond},
				})
				if err != nil {
					t.Error(err)
				}
			}
		}()
	}
	select {}
}

// expectNone expects that soon there is nothing of a kind.
func expectNone(t *testing.T, what string, list func() []string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		left := list()
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("these %s are left: %q", what, left)
		}
	}
}

// processesOf lists the programs that sleep so long, what starts them, and what
// is this test's binary, where that can be seen: supervisors, and processes
// that a server had begun to start. Such as are dead but for the one who is to
// wait for them do not count.
func processesOf(sleep string) (found []string) {
	self, _ := os.Readlink("/proc/self/exe")
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if pid == os.Getpid() || pid == os.Getppid() {
			continue
		}
		line, _ := os.ReadFile(dir + "/cmdline")
		exe, _ := os.Readlink(dir + "/exe")
		if exe == self || strings.Contains(string(line), sleep) {
			found = append(found, fmt.Sprintf("%s: %q", dir, line))
		}
	}
	return found
}

// cgroupsOf lists the cgroups of servers with these process ids.
func cgroupsOf(t *testing.T, pids []int) (found []string) {
	t.Helper()
	err := filepath.WalkDir("/sys/fs/cgroup", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() { // gone meanwhile
			return nil
		}
		if slices.ContainsFunc(pids, func(pid int) bool {
			return strings.HasPrefix(entry.Name(), fmt.Sprintf("skills-mcp-%d-", pid))
		}) {
			found = append(found, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// mountsBelow lists what is mounted below a directory in this namespace.
func mountsBelow(t *testing.T, dir string) (found []string) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, dir) {
			found = append(found, line)
		}
	}
	return found
}

// probesIn lists the directories in which servers have tried their sandbox.
func probesIn(t *testing.T, temporary string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(temporary, "skills-mcp-probe-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
