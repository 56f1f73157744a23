package conformance

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"testing"
	"time"
)

// home is an environment of its own for one process: nothing of the user who
// runs the tests is read or written.
func home(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	env := []string{
		"HOME=" + dir,
		"USERPROFILE=" + dir,
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "config"),
		"XDG_STATE_HOME=" + filepath.Join(dir, "state"),
		"XDG_CACHE_HOME=" + filepath.Join(dir, "cache"),
		"PATH=" + os.Getenv("PATH"),
		"LANG=C.UTF-8",
		// A data race ends the server at once, which no test survives.
		"GORACE=halt_on_error=1 atexit_sleep_ms=0",
	}
	if runtime.GOOS == "windows" {
		env = append(env, "SystemRoot="+os.Getenv("SystemRoot"), "TEMP="+dir)
	}
	return env
}

// log keeps what a process wrote. It is safe for concurrent use.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// server is a skills-mcp that serves HTTP until the test is over.
type server struct {
	url    string // of its streamable HTTP endpoint
	stderr *log
	exited chan struct{} // closed when it has ended
}

// listenAddress finds the server's endpoint in what it says when it is ready.
var listenAddress = regexp.MustCompile(`http://127\.0\.0\.1:[1-9][0-9]*/mcp\b`)

// serve starts a server of its own for the test, on a free port.
func serve(t *testing.T, root string) *server {
	t.Helper()
	s := &server{stderr: &log{}, exited: make(chan struct{})}
	cmd := exec.Command(binary, "serve", "--http", "127.0.0.1:0", root)
	cmd.Env = home(t)
	cmd.Stderr = s.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.exited)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
			_ = cmd.Process.Kill()
		}
		select {
		case <-s.exited:
		case <-time.After(patience):
			_ = cmd.Process.Kill()
			<-s.exited
			t.Error("the server had to be killed")
		}
		if t.Failed() {
			t.Logf("stderr of the server:\n%s", s.stderr)
		}
	})
	eventually(t, "the server says where it listens", func() bool {
		select {
		case <-s.exited:
			t.Fatalf("the server exited:\n%s", s.stderr)
		default:
		}
		s.url = listenAddress.FindString(s.stderr.String())
		return s.url != ""
	})
	return s
}

// tool is a Node.js program that is running.
type tool struct {
	cmd    *exec.Cmd
	stdout log
	stderr log
	exited chan struct{} // closed when it has ended
}

// startTool starts a tool. It is killed when it outlasts the test.
func startTool(t *testing.T, node string, args ...string) *tool {
	t.Helper()
	p := &tool{cmd: exec.CommandContext(t.Context(), node, args...), exited: make(chan struct{})}
	p.cmd.Env = home(t)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.exited)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() { <-p.exited })
	return p
}

// exitCode waits for the tool to end, -1 when a signal ended it.
func (p *tool) exitCode(t *testing.T) int {
	t.Helper()
	select {
	case <-p.exited:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		t.Fatalf("%v did not exit within %v\n%s%s", p.cmd.Args, patience, &p.stdout, &p.stderr)
		return 0
	}
}

// eventually polls a condition that another process brings about.
func eventually(t *testing.T, what string, met func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !met(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}
