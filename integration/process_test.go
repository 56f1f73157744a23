package integration

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// home is an environment of its own for one server or host: nothing of the
// user who runs the tests is read or written.
func home(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := []string{
		"HOME=" + dir,
		"USERPROFILE=" + dir,
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "config"),
		"XDG_STATE_HOME=" + filepath.Join(dir, "state"),
		"XDG_CACHE_HOME=" + filepath.Join(dir, "cache"),
		"CLAUDE_CONFIG_DIR=" + filepath.Join(dir, "claude"),
		"TMPDIR=" + filepath.Join(dir, "tmp"),
		"PATH=" + os.Getenv("PATH"),
		"LANG=C.UTF-8",
		// A data race ends the server at once, which no test survives.
		"GORACE=halt_on_error=1 atexit_sleep_ms=0",
	}
	if runtime.GOOS == "windows" {
		env = append(env, "SystemRoot="+os.Getenv("SystemRoot"), "PATHEXT="+os.Getenv("PATHEXT"), "TEMP="+filepath.Join(dir, "tmp"))
	}
	return env
}

// log keeps what a process wrote on stderr. It is safe for concurrent use.
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

// process is a child of the test that is gone when the test is over.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
	stderr *log
	exited chan struct{} // closed when the process has ended
	daemon bool          // it does not end with its stdin
}

// start runs a command with the environment given and pipes to its stdin and
// stdout. The caller reads stdout to its end.
func start(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(name, args...), stderr: &log{}, exited: make(chan struct{})}
	p.cmd.Env = env
	p.cmd.Stderr = p.stderr
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin = stdin
	// Not StdoutPipe: Wait would close it under the reader.
	reader, writer := io.Pipe()
	p.stdout, p.cmd.Stdout = reader, writer
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.exited)
		p.cmd.Wait()
		writer.Close()
	}()
	t.Cleanup(func() {
		p.stop(t)
		reader.Close()
		if t.Failed() {
			t.Logf("stderr of %s:\n%s", filepath.Base(name), p.stderr)
		}
	})
	return p
}

// stop ends the process as its user would: by closing its stdin, and with an
// interrupt where it serves a port. One that has to be killed fails the test.
func (p *process) stop(t *testing.T) {
	p.stdin.Close()
	if p.daemon {
		p.cmd.Process.Signal(os.Interrupt)
	}
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.cmd.Process.Kill()
		<-p.exited
		t.Errorf("%s had to be killed", p.cmd)
	}
}

// exitCode waits for the process to end by itself and returns its exit code,
// -1 when a signal ended it.
func (p *process) exitCode(t *testing.T) int {
	t.Helper()
	select {
	case <-p.exited:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		t.Fatalf("%s did not exit within %v", filepath.Base(p.cmd.Path), patience)
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

// listenAddress finds the server's own address in what it says when it is
// ready.
var listenAddress = regexp.MustCompile(`http://(127\.0\.0\.1:[1-9][0-9]*)\b`)

// serveHTTP starts the HTTP server on a free port and returns its base URL
// when it is ready.
func serveHTTP(t *testing.T, env []string, args ...string) (*process, string) {
	t.Helper()
	p := start(t, env, binary, append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...)
	p.daemon = true
	go io.Copy(io.Discard, p.stdout)
	var url string
	eventually(t, "the server says where it listens", func() bool {
		select {
		case <-p.exited:
			t.Fatalf("serve exited:\n%s", p.stderr)
		default:
		}
		match := listenAddress.FindStringSubmatch(p.stderr.String())
		if match != nil {
			url = "http://" + match[1]
		}
		return match != nil
	})
	return p, url
}

// environ turns KEY=value lines into a map, as the SDK's clients take it.
func environ(env []string) map[string]string {
	fields := make(map[string]string, len(env))
	for _, line := range env {
		key, value, _ := strings.Cut(line, "=")
		fields[key] = value
	}
	return fields
}
