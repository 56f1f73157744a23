//go:build amd64 || arm64

package environments_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
)

// orderVariable has this program be another process that prepares packages.
const orderVariable = "ENVIRONMENTS_TEST_ORDER"

// order is what such a process is to do.
type order struct {
	Store, Workspaces, Index, UV string
	Wanted                       environments.Wanted
}

// obey prepares what was ordered, prints what it does, and returns an exit code.
func obey(text string) int {
	err := func() error {
		var o order
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			return err
		}
		opened, err := backend()
		if err != nil {
			return err
		}
		made, err := workspaces.New(o.Workspaces, workspaces.Options{})
		if err != nil {
			return err
		}
		f := &fixture{
			index: &index{server: &httptest.Server{URL: o.Index}}, backend: opened, workspaces: made,
			store: &environments.Store{Dir: o.Store, Machine: "local"},
		}
		request := f.requestWith(o.Wanted, o.UV)
		request.Progress = func(line string) { fmt.Println(line) }
		_, err = f.store.Prepare(context.Background(), request)
		return errors.Join(err, made.Close(), opened.Close())
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// process is another one that prepares packages.
type process struct {
	*exec.Cmd
	lines *bufio.Scanner
	dir   string // of its workspaces
	said  bytes.Buffer
}

func (f *fixture) start(t testing.TB, wanted environments.Wanted) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0]), dir: t.TempDir()}
	text, err := json.Marshal(order{Store: f.store.Dir, Workspaces: p.dir, Index: f.server.URL, UV: uv(t), Wanted: wanted})
	if err != nil {
		t.Fatal(err)
	}
	p.Env, p.Stderr = append(os.Environ(), orderVariable+"="+string(text)), &p.said
	stdout, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(stdout)
	return p
}

// TestKilled: whenever a process that prepares packages is killed, nothing of it
// runs on, what it has left half made is used by nobody, and the next one clears
// it away.
func TestKilled(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "processes that are killed")
	line := func(begin string) func(*fixture, *process) {
		return func(_ *fixture, p *process) {
			for p.lines.Scan() && !strings.HasPrefix(p.lines.Text(), begin) {
			}
		}
	}
	requests := func(n int) func(*fixture, *process) {
		return func(f *fixture, _ *process) {
			for range n {
				<-f.arrived
			}
		}
	}
	file := func(pattern string) func(*fixture, *process) {
		return func(f *fixture, p *process) {
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				for p.lines.Scan() { // to its end
				}
			}()
			for {
				select {
				case <-gone:
					return
				default:
				}
				if found, _ := filepath.Glob(filepath.Join(f.store.Dir, pattern)); len(found) > 0 {
					return
				}
			}
		}
	}
	moments := map[string]func(*fixture, *process){
		"at the third request": requests(3), "when uv is copied": file("unfinished-*/made/uv"), "when all is copied": file("unfinished-*/made/environment.json"),
	}
	if testenv.All(t) {
		maps.Copy(moments, map[string]func(*fixture, *process){
			"when it resolves": line("Resolve"), "when it installs": line("Install"), "when it compiles": line("Compile"), "when it copies": line("Checking"),
			"at the first request": requests(1), "at its end": file("wanted/*"),
		})
		for i := range 30 {
			moments[fmt.Sprintf("at some moment, %d", i)] = func(*fixture, *process) { time.Sleep(rand.N(2 * time.Second)) }
		}
	}
	for name, wait := range moments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.mu.Lock()
			f.arrived = make(chan string, 100)
			f.mu.Unlock()
			wanted := f.greeting()
			p := f.start(t, wanted)
			wait(f, p)
			if err := p.Process.Kill(); err != nil {
				t.Error(err)
			}
			if err := p.Wait(); err == nil {
				t.Log("it was faster")
			} else if !strings.Contains(err.Error(), "killed") {
				t.Fatalf("%v: %s", err, &p.said)
			}
			f.expectNone(t, p)
			expectNoGroups(t, p)
			if found, err := f.store.Find(wanted); err == nil {
				checkTree(t, found.Show[0])
				f.expect(t, found, "greet", nil, "hello")
			} else if !errors.Is(err, environments.ErrNotPrepared) {
				t.Error(err)
			}
			f.store.Reap()
			if left, _ := filepath.Glob(filepath.Join(f.store.Dir, "unfinished-*")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			f.expect(t, f.prepare(t, wanted), "greet", nil, "hello")
			if pruned, err := f.store.Prune(0); err != nil || len(pruned.Removed) != 1 {
				t.Errorf("pruned %v, %v", pruned, err)
			}
			f.unchanged(t)
		})
	}
}

// expectNone waits until no process is left that another one has started.
func (f *fixture) expectNone(t testing.TB, of *process) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		left = nil
		all, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil || len(all) == 0 {
			t.Fatalf("%v, %v", all, err)
		}
		for _, name := range all {
			text, _ := os.ReadFile(name) // or it is gone
			if strings.Contains(string(text), f.store.Dir) || strings.Contains(string(text), of.dir) {
				left = append(left, name+": "+strings.ReplaceAll(string(text), "\x00", " "))
			}
		}
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("still running: %q", left)
}

// expectNoGroups waits until the next one that uses a sandbox has removed the
// control groups of one that is dead.
func expectNoGroups(t testing.TB, of *process) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		opened, err := local.New(t.Context(), local.Options{Project: "/"})
		if err == nil {
			err = opened.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		left = nil
		_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, _ fs.DirEntry, _ error) error { // others come and go
			if strings.HasPrefix(filepath.Base(path), fmt.Sprintf("skills-mcp-%d-", of.Process.Pid)) {
				left = append(left, path)
			}
			return nil
		})
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("left: %q", left)
}

// TestTwoAtOnce: processes that want the same at once install it once, and others
// take no notice.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	same, other := f.greeting(), environments.Wanted{Python: []string{"words<1"}}
	var group sync.WaitGroup
	var mu sync.Mutex
	installed := 0
	keys := make([]string, 3)
	for i := range keys {
		store := &environments.Store{Dir: f.store.Dir, Machine: f.store.Machine}
		request := f.request(t, same)
		if i == 0 {
			request = f.request(t, other)
		}
		request.Progress = func(line string) {
			mu.Lock()
			defer mu.Unlock()
			if strings.HasPrefix(line, "Install") {
				installed++
			}
		}
		group.Go(func() {
			made, err := store.Prepare(t.Context(), request)
			if err != nil {
				t.Error(err)
				return
			}
			keys[i] = made.Key
		})
	}
	p := f.start(t, same)
	for p.lines.Scan() {
		if mu.Lock(); strings.HasPrefix(p.lines.Text(), "Install") {
			installed++
		}
		mu.Unlock()
	}
	if err := p.Wait(); err != nil {
		t.Errorf("%v: %s", err, &p.said)
	}
	group.Wait()
	if keys[0] == keys[1] || keys[1] != keys[2] || keys[1] == "" || installed != 2 {
		t.Errorf("keys %q, installed %d times", keys, installed)
	}
	for want, wanted := range map[string]environments.Wanted{"hello": same, "old": other} {
		found, err := f.store.Find(wanted)
		if err != nil {
			t.Fatal(err)
		}
		f.expect(t, found, "python -c 'import words; print(words.WORD)'", nil, want)
	}
}

// TestInUse: what a run has is not removed before it has ended, by its age or by
// hand, and what another process is making keeps what it needs.
func TestInUse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	wanted := f.greeting()
	made := f.prepare(t, wanted)
	first, err := made.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	second, err := made.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	for _, release := range []func(){first, second} {
		if pruned, err := f.store.Prune(0); err != nil || len(pruned.Removed) > 0 || len(pruned.InUse) != 1 || pruned.InUse[0].Key != made.Key {
			t.Errorf("pruned %v, %v", pruned, err)
		}
		f.expect(t, made, "greet", nil, "hello")
		if found, err := f.store.Find(wanted); err != nil || found.Key != made.Key {
			t.Errorf("found %v, %v", found, err)
		}
		release()
	}
	request := f.request(t, environments.Wanted{Python: []string{"words<1"}})
	request.Agree = func([]environments.Package) error {
		pruned, err := f.store.Prune(0)
		if err != nil || len(pruned.Removed) != 1 || len(pruned.InUse) > 0 {
			t.Errorf("pruned %v, %v", pruned, err)
		}
		if _, err := made.Acquire(); !errors.Is(err, environments.ErrNotPrepared) {
			t.Errorf("a run gets what was removed: %v", err)
		}
		return nil
	}
	other, err := f.store.Prepare(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	f.expect(t, other, "uv run --no-project python -c 'import words; print(words.WORD)'", nil, "old")
}
