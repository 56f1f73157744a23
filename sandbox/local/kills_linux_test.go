//go:build amd64 || arm64

package local_test

import (
	"errors"
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

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
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
	// busyProjectVariable names a directory of projects.
	busyProjectVariable = "LOCAL_TEST_BUSY_PROJECT"
)

// busyPrograms leave processes behind in every way there is.
var busyPrograms = []string{
	`sleep $T`,
	`sleep $T & exit 0`,
	`(setsid sh -c 'trap "" HUP INT TERM; setsid sleep $T > /dev/null 2>&1 & sleep $T' &); sleep $T`,
	`sh -c 'setsid env -i sleep '$T' &'; head -c 3000000 /dev/zero; sleep $T`,
}

// busyWriter is what they do before in a project.
const busyWriter = `cat file; echo more >> file; rm -rf dir; mkdir dir; mv new dir/; cp file new; chmod 700 new; `

// Whenever a server is killed, nothing of its runs lives soon after; and once
// the next one has started, nothing at all is left of it. What its runs have
// changed in projects the next run sees and goes on with.
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
			var projects []string
			var killed sync.WaitGroup
			for range servers {
				projects = append(projects, t.TempDir())
				busyProjects(t, projects[len(projects)-1])
				server := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
				server.Env = append(os.Environ(), busyTierVariable+"="+string(tier), busySleepVariable+"="+sleep,
					busyProjectVariable+"="+projects[len(projects)-1])
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
			expectUsable(t, tier, projects)
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
	for i, program := range busyPrograms {
		workspace := t.TempDir()
		share := busyProject(os.Getenv(busyProjectVariable), i)
		go func() {
			for t.Context().Err() == nil {
				_, err := backend.Run(t.Context(), sandbox.Spec{
					Shell: busyWriter + program, Env: map[string]string{"T": os.Getenv(busySleepVariable)}, Workspace: workspace,
					Shares: []sandbox.Share{share}, Project: true, InProject: true,
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

// ofUser is what is in the one file of a project.
const ofUser = "of the user\n"

// busyProjects makes the projects of a server, one for each program, in a
// directory.
func busyProjects(t *testing.T, dir string) {
	t.Helper()
	for i := range busyPrograms {
		share := busyProject(dir, i)
		err := errors.Join(os.MkdirAll(share.Changes, 0o700), os.MkdirAll(share.Path, 0o755),
			os.WriteFile(filepath.Join(share.Path, "file"), []byte(ofUser), 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
}

// busyProject is one of them.
func busyProject(dir string, number int) sandbox.Share {
	dir = filepath.Join(dir, strconv.Itoa(number), "project")
	return sandbox.Share{Path: dir, Layers: []string{dir}, Access: sandbox.AccessReview, Changes: filepath.Join(filepath.Dir(dir), "changes")}
}

// expectUsable expects of the projects of servers that were killed that a new one
// can go on with them, and that they are as the user has them.
func expectUsable(t *testing.T, tier local.Tier, projects []string) {
	t.Helper()
	backend := opener(tier)(t)
	defer backend.Close()
	for i, dir := range projects {
		share := busyProject(dir, i%len(busyPrograms))
		spec := sandbox.Spec{
			Shell:     `set -e; grep -q "of the user" file; echo still >> file; rm -rf dir; mkdir dir; echo new > dir/after; cp dir/after new; grep -q still file`,
			Workspace: t.TempDir(), Shares: []sandbox.Share{share}, Project: true, InProject: true,
		}
		if result := run(t, backend, spec); result.ExitCode != 0 || result.Shared[0].Access != sandbox.AccessReview {
			t.Errorf("after a kill it ends with %d: %s%+v", result.ExitCode, result.Stderr.Data, result.Shared)
		}
		held, err := os.ReadFile(filepath.Join(share.Changes, sandbox.UpperDir, "dir", "after"))
		if string(held) != "new\n" {
			t.Errorf("after a kill %q is held, %v", held, err)
		}
		content, readErr := os.ReadFile(filepath.Join(share.Path, "file"))
		left, err := os.ReadDir(share.Path)
		if err := errors.Join(err, readErr); err != nil || len(left) != 1 || string(content) != ofUser {
			t.Errorf("in the project are %v, %q, %v", left, content, err)
		}
		if err := tempdir.Remove(dir); err != nil {
			t.Error(err)
		}
	}
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

// probesIn lists the directories of servers: such in which they have tried their
// sandbox, and copies of projects.
func probesIn(t *testing.T, temporary string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(temporary, "skills-mcp-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
