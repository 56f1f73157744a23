package program

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Process is a child of the test that is gone when the test is over.
type Process struct {
	Cmd   *exec.Cmd
	Stdin io.WriteCloser
	// Stdout has to be read to its end, or the process blocks.
	Stdout io.Reader
	Stderr *Output
	Exited <-chan struct{} // closed when the process has ended

	daemon bool // it does not end with its stdin
}

// Start runs a command with the environment given. When the test is over the
// process is stopped; if the test failed, its stderr is logged.
func Start(t testing.TB, env []string, name string, args ...string) *Process {
	t.Helper()
	return StartIn(t, env, "", name, args...)
}

// StartIn is Start in a directory, unless that is empty.
func StartIn(t testing.TB, env []string, dir, name string, args ...string) *Process {
	t.Helper()
	cmd := exec.Command(name, args...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	// Not StdoutPipe: Wait would close it under the reader.
	reader, writer := io.Pipe()
	exited := make(chan struct{})
	p := &Process{Cmd: cmd, Stdin: stdin, Stdout: reader, Stderr: &Output{}, Exited: exited}
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = env, dir, writer, p.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(exited)
		_ = cmd.Wait() // ExitCode tells
		writer.Close()
	}()
	t.Cleanup(func() {
		p.Stop(t)
		reader.Close()
		if t.Failed() {
			t.Logf("stderr of %s:\n%s", filepath.Base(name), p.Stderr)
		}
	})
	return p
}

// Stop ends the process as its user would: by closing its stdin, and with an
// interrupt where it serves a port. One that has to be killed fails the test,
// except where the platform has no interrupts.
func (p *Process) Stop(t testing.TB) {
	t.Helper()
	p.Stdin.Close()
	if p.daemon {
		if err := p.Cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
			_ = p.Cmd.Process.Kill()
		}
	}
	select {
	case <-p.Exited:
	case <-time.After(Patience):
		_ = p.Cmd.Process.Kill()
		<-p.Exited
		t.Errorf("%s had to be killed", p.Cmd)
	}
}

// ExitCode waits for the process to end by itself and returns its exit code,
// -1 when a signal ended it.
func (p *Process) ExitCode(t testing.TB) int {
	t.Helper()
	select {
	case <-p.Exited:
		return p.Cmd.ProcessState.ExitCode()
	case <-time.After(Patience):
		t.Fatalf("%s did not exit within %v", filepath.Base(p.Cmd.Path), Patience)
		return 0
	}
}
