package reaper_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
)

// watch runs a shell program below this process, which has no other children,
// and watches over it.
func watch(t *testing.T, program string, w reaper.Watch) reaper.Outcome {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	if w.PID, err = syscall.ForkExec(shell, []string{"sh", "-c", program}, &syscall.ProcAttr{Env: []string{"PATH=/usr/bin:/bin"}}); err != nil {
		t.Fatal(err)
	}
	if w.KillAll == nil {
		w.KillAll = reaper.KillDescendants
	}
	return w.Wait()
}

// The tests are not parallel: each waits for all children of this process.
func TestEndings(t *testing.T) {
	gone := make(chan struct{})
	close(gone)
	var asked atomic.Int32
	for name, c := range map[string]struct {
		program string
		watch   reaper.Watch
		want    reaper.Outcome
	}{
		"an exit code": {"exit 7", reaper.Watch{}, reaper.Outcome{Ending: reaper.Ending{Code: 7}}},
		"a signal":     {"kill -USR1 $$", reaper.Watch{}, reaper.Outcome{Ending: reaper.Ending{Signal: "SIGUSR1"}}},
		"no name":      {"kill -40 $$", reaper.Watch{}, reaper.Outcome{Ending: reaper.Ending{Signal: "SIG40"}}},
		"left behind": {"sleep 1000 & sleep 1000 & exit 0", reaper.Watch{},
			reaper.Outcome{Ending: reaper.Ending{LeftBehind: []string{"sleep", "sleep"}}}},
		"let go":  {"sleep 1000", reaper.Watch{Released: gone}, reaper.Outcome{Ending: reaper.Ending{Signal: "SIGKILL", Killed: true}}},
		"timeout": {"sleep 1000", reaper.Watch{Timeout: time.Millisecond}, reaper.Outcome{Ending: reaper.Ending{Signal: "SIGKILL", Killed: true}}},
		"quota": {"sleep 1000", reaper.Watch{Exceeded: func() bool { return asked.Add(1) > 1 }},
			reaper.Outcome{Ending: reaper.Ending{Signal: "SIGKILL", Killed: true}, OverQuota: true}},
	} {
		got := watch(t, c.program, c.watch)
		got.CPUTime = 0
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What was kept for the time after a program is free when its last process is
// gone, and not before.
func TestNoneLeft(t *testing.T) {
	for _, program := range []string{"exit 0", "sleep 0.1 & exit 0", "sh -c 'sh -c \"sleep 0.1; exit 3\" & exit 2' & exit 1"} {
		var called, left int
		watch(t, program, reaper.Watch{NoneLeft: func() {
			called++
			if err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil); err != unix.ECHILD {
				left++
			}
		}})
		if called != 1 || left > 0 {
			t.Errorf("%s: called %d times, %d of them with children left", program, called, left)
		}
	}
}

// While some die, it takes longer to give up.
func TestGivingUp(t *testing.T) {
	const giveUp = 300 * time.Millisecond
	for program, left := range map[string]bool{
		"sleep 1000":                             true,
		"while :; do sh -c 'sleep 0.01 &'; done": false,
	} {
		begun := time.Now()
		outcome := watch(t, program, reaper.Watch{Timeout: time.Millisecond, GiveUp: giveUp, KillAll: func() {
			if time.Since(begun) > 3*giveUp {
				reaper.KillDescendants()
			}
		}})
		if outcome.Left != left {
			t.Errorf("%s: left: %t", program, outcome.Left)
		}
		if outcome.Left { // for the tests that follow
			watch(t, "exit 0", reaper.Watch{Timeout: time.Millisecond})
		}
	}
}

// Nothing is faster, not even what is another process at every moment.
func TestChains(t *testing.T) {
	dir := testfiles.Dir(t, map[string]string{"chain.sh": `setsid sh "$0" &`})
	chain := "sh " + filepath.Join(dir, "chain.sh") + " & "
	outcome := watch(t, strings.Repeat(chain, 4)+"sleep 1000", reaper.Watch{Timeout: 100 * time.Millisecond, GiveUp: 2 * time.Second})
	if outcome.Left {
		t.Error("processes are left")
	}
}
