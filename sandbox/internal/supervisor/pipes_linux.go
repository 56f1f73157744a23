package supervisor

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
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
// another user.
type pipes struct {
	theirs, ours []*os.File
	copies       []func()
	copying      sync.WaitGroup
}

// connect gives a command its streams.
func (s Streams) connect(command *exec.Cmd) (*pipes, error) {
	p := new(pipes)
	err := errors.Join(
		p.output(s, s.Stdout, func(f *os.File) { command.Stdout = f }),
		p.output(s, s.Stderr, func(f *os.File) { command.Stderr = f }))
	if s.Stdin != nil && err == nil {
		err = p.input(s, command)
	}
	if err != nil {
		p.started(false)
		return nil, err
	}
	return p, nil
}

func (p *pipes) output(s Streams, to io.Writer, set func(*os.File)) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	p.ours, p.theirs = append(p.ours, read), append(p.theirs, write)
	p.copies = append(p.copies, func() { io.Copy(to, read) }) // ends with the pipe
	set(write)
	return s.give(write)
}

func (p *pipes) input(s Streams, command *exec.Cmd) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	p.ours, p.theirs = append(p.ours, write), append(p.theirs, read)
	p.copies = append(p.copies, func() {
		io.Copy(write, bytes.NewReader(s.Stdin)) // fails where the program does not read it all
		write.Close()
	})
	command.Stdin = read
	return s.give(read)
}

// give makes the owner of a pipe the one who may open it by name.
func (s Streams) give(end *os.File) error {
	if s.Owner <= 0 {
		return nil
	}
	return end.Chown(s.Owner, s.Owner)
}

// started closes the ends that the process has now, and starts to copy.
func (p *pipes) started(ok bool) {
	for _, file := range p.theirs {
		file.Close()
	}
	if !ok {
		for _, file := range p.ours {
			file.Close()
		}
		return
	}
	for _, run := range p.copies {
		p.copying.Go(run)
	}
}

// drain returns when all output was copied, after the process has ended.
func (p *pipes) drain() {
	late := time.AfterFunc(pipeDelay, p.closeOurs)
	p.closeInput()
	p.copying.Wait()
	late.Stop()
	p.closeOurs()
}

// closeInput ends the copying of input that nobody reads any more.
func (p *pipes) closeInput() {
	if len(p.ours) > 2 {
		p.ours[2].Close()
	}
}

func (p *pipes) closeOurs() {
	for _, file := range p.ours {
		file.Close() // a second time does nothing
	}
}
