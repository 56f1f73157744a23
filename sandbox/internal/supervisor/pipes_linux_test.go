package supervisor

import (
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// slowWriter takes its first bytes only when it may.
type slowWriter struct {
	got     string
	called  chan struct{} // closed at the first call
	allowed chan struct{}
}

func (w *slowWriter) Write(p []byte) (int, error) {
	if w.got == "" {
		close(w.called)
		<-w.allowed
	}
	w.got += string(p)
	return len(p), nil
}

// What a program has written is not lost where the copying of it is late, and
// whoever else holds the pipe open is not waited for.
func TestLateOutputIsNotLost(t *testing.T) {
	t.Parallel()
	to := &slowWriter{called: make(chan struct{}), allowed: make(chan struct{})}
	p, err := Streams{Stdout: to, Stderr: io.Discard}.connect()
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.FcntlInt(p.theirs[0].Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	holder := os.NewFile(uintptr(fd), "held open")
	defer holder.Close()
	p.given(true)
	holder.WriteString("first ")
	<-to.called
	holder.WriteString("and last")
	p.cut()
	close(to.allowed)
	p.drain()
	if to.got != "first and last" {
		t.Errorf("copied is %q", to.got)
	}
}
