package hosts

import (
	"bytes"
	"context"
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

// home is an environment of its own for one host: nothing of the user who
// runs the tests is read or written, and nothing of theirs is passed on.
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
		env = append(env, "SystemRoot="+os.Getenv("SystemRoot"), "PATHEXT="+os.Getenv("PATHEXT"), "TEMP="+dir)
	}
	return env
}

// environ turns KEY=value lines into a map.
func environ(env []string) map[string]string {
	fields := make(map[string]string, len(env))
	for _, line := range env {
		key, value, _ := strings.Cut(line, "=")
		fields[key] = value
	}
	return fields
}

// output keeps what a process wrote. It is safe for concurrent use.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// process is a child of the test that is gone when the test is over.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
	stderr *output
	exited chan struct{} // closed when the process has ended
	daemon bool          // it does not end with its stdin
}

// start runs a command with pipes to its stdin and stdout. The caller reads
// stdout to its end.
func start(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(name, args...), stderr: &output{}, exited: make(chan struct{})}
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
var listenAddress = regexp.MustCompile(`http://127\.0\.0\.1:[1-9][0-9]*\b`)

// serveHTTP starts the HTTP server on a free port and returns its streamable
// HTTP endpoint when it is ready.
func serveHTTP(t *testing.T, env []string, roots ...string) string {
	t.Helper()
	args := append([]string{"serve", "--http", "127.0.0.1:0"}, serverArgs(roots...)...)
	p := start(t, env, binary, args...)
	p.daemon = true
	go io.Copy(io.Discard, p.stdout)
	var url string
	eventually(t, "the server says where it listens", func() bool {
		select {
		case <-p.exited:
			t.Fatalf("serve exited:\n%s", p.stderr)
		default:
		}
		url = listenAddress.FindString(p.stderr.String())
		return url != ""
	})
	return url + "/mcp"
}

// serverArgs are the flags of a server that may run scripts.
func serverArgs(roots ...string) []string {
	return append([]string{"--sandbox=unsafe-host", "--log-level=warn"}, roots...)
}

// mustRun runs a command to its end and returns its stdout.
func mustRun(t *testing.T, env []string, dir, name string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var stderr bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stderr = env, dir, &stderr
	cmd.WaitDelay = time.Second // for what holds its pipes
	stdout, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\nstdout: %s\nstderr: %s", cmd, err, stdout, stderr.Bytes())
	}
	return stdout
}

// within bounds the wait for something that another process does.
func within(t *testing.T, what string, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		t.Fatalf("not within %v: %s", patience, what)
		return nil
	}
}
