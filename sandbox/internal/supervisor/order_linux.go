package supervisor

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// Order is what a supervisor is to run.
type Order struct {
	// Orders fill [Job.Orders].
	Orders wire.Message
	Streams
	// Files are given to [Job.Prepare]. They remain the caller's.
	Files []*os.File
	// Returns is how many descriptors Prepare returns, for [Tree.Returned].
	Returns int
}

// What comes with the first byte of an order: the descriptors of the standard
// streams, of which the input may be missing, and then those of the files.
const (
	withoutInput = 0
	withInput    = 1
)

// send sends an order.
func (o *Order) send(to *os.File, streams []*os.File) error {
	kind := byte(withoutInput)
	if len(streams) == 3 {
		kind = withInput
	}
	var fds []int
	for _, file := range append(streams, o.Files...) {
		fds = append(fds, int(file.Fd()))
	}
	if err := wire.SendFiles(to, kind, fds...); err != nil {
		return err
	}
	return wire.Send(to, o.Orders)
}

// receiveOrder makes the streams of an order those of this process, and returns
// the descriptors of the files that came with it.
func receiveOrder(from *os.File, orders wire.Message) (files []int, err error) {
	fds, kind, err := wire.ReceiveFiles(from, 0)
	if err != nil {
		return nil, err
	}
	targets := []int{1, 2}
	if kind == withInput {
		targets = []int{1, 2, 0}
	}
	if len(fds) < len(targets) {
		return nil, wire.ErrInvalid
	}
	for i, target := range targets {
		if err := unix.Dup3(fds[i], target, 0); err != nil {
			return nil, err
		}
		unix.Close(fds[i])
	}
	return fds[len(targets):], wire.Receive(from, orders)
}

// receiveReturned receives as many descriptors as [Job.Prepare] returned, which
// are there by now.
func receiveReturned(from *os.File, count int) (returned []*os.File, err error) {
	if count == 0 {
		return nil, nil
	}
	fds, _, err := wire.ReceiveFiles(from, unix.MSG_DONTWAIT)
	for _, fd := range fds {
		returned = append(returned, os.NewFile(uintptr(fd), "returned"))
	}
	if err == nil && len(fds) != count {
		err = wire.ErrInvalid
	}
	if err != nil {
		closeAll(returned)
		return nil, err
	}
	return returned, nil
}
