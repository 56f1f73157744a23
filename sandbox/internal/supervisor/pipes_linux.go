package supervisor

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// pipeDelay is how long one waits for the end of output that is held open by
// something that is no process of the run any more.
const pipeDelay = time.Second

// Streams are what a program reads and where its output goes.
type Streams struct {
	Stdin          []byte // nil is an empty input
	Stdout, Stderr io.Writer
	// Owner, if positive, is the user who may open the streams again by
	// name, as in "tee /dev/stderr", where it is not the server's own.
	Owner int
}

// pipes carry the streams. Unlike those of os/exec their ends can be given to
// another user, and to a process that has been started already.
type pipes struct {
	theirs, ours []*os.File // output, errors and, if there is any, input
	copies       []func()
	copying      sync.WaitGroup
}

// connect makes the pipes.
func (s Streams) connect() (*pipes, error) {
	p := new(pipes)
	err := errors.Join(p.output(s, s.Stdout), p.output(s, s.Stderr))
	if s.Stdin != nil && err == nil {
		err = p.input(s)
	}
	if err != nil {
		p.given(false)
		return nil, err
	}
	return p, nil
}

func (p *pipes) output(s Streams, to io.Writer) error {
	ours, err := p.add(s, 0)
	p.copies = append(p.copies, func() {
		if _, err := io.Copy(to, ours); errors.Is(err, os.ErrDeadlineExceeded) {
			to.Write(unread(ours))
		}
	})
	return err
}

// unread returns what a pipe holds, without waiting for more.
func unread(pipe *os.File) (held []byte) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return nil
	}
	conn.Control(func(fd uintptr) {
		size, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ)
		if err != nil {
			return
		}
		held = make([]byte, size)
		n, _ := unix.Read(int(fd), held)
		held = held[:max(n, 0)]
	})
	return held
}

func (p *pipes) input(s Streams) error {
	ours, err := p.add(s, 1)
	p.copies = append(p.copies, func() {
		io.Copy(ours, bytes.NewReader(s.Stdin)) // fails where the program does not read it all
		ours.Close()
	})
	return err
}

// add makes a pipe of which we keep the end of that number, 0 to read from and
// 1 to write to. Only that is for Go's poller: a program may expect that its
// own end blocks.
func (p *pipes) add(s Streams, end int) (ours *os.File, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	err = unix.SetNonblock(ends[end], true)
	ours = os.NewFile(uintptr(ends[end]), "stream")
	theirs := os.NewFile(uintptr(ends[1-end]), "stream of the program")
	p.ours, p.theirs = append(p.ours, ours), append(p.theirs, theirs)
	if s.Owner > 0 {
		err = errors.Join(err, theirs.Chown(s.Owner, s.Owner))
	}
	return ours, err
}

// given closes the ends that the process has now, and starts to copy.
func (p *pipes) given(ok bool) {
	closeAll(p.theirs)
	if !ok {
		closeAll(p.ours)
		return
	}
	for _, run := range p.copies {
		p.copying.Go(run)
	}
}

// closeAll closes files, of which some may be closed already.
func closeAll(files []*os.File) {
	for _, file := range files {
		file.Close()
	}
}

// drain returns when all output was copied, after the process has ended.
func (p *pipes) drain() {
	late := time.AfterFunc(pipeDelay, p.cut)
	closeAll(p.ours[2:]) // the input is not read any more
	p.copying.Wait()
	late.Stop()
	closeAll(p.ours)
}

// cut ends the copying of output, but for what is in the pipes already: where
// the machine is busy, that may be all there is.
func (p *pipes) cut() {
	for _, file := range p.ours[:2] {
		file.SetReadDeadline(time.Now())
	}
}
