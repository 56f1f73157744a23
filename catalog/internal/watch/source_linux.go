package watch

import (
	"encoding/binary"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// inotify is Linux's source. It keeps no state beside the kernel's, which
// knows directories by their inodes: no order of renames and removals can put
// the two at odds.
type inotify struct {
	fd      *os.File
	raw     syscall.RawConn
	handle  func(event)
	running sync.WaitGroup
	closing atomic.Bool

	reading sync.Mutex // keeps the events in order
	buffer  [64 << 10]byte
}

// What is added for contents, and for what leads to others, are masks of one
// watch.
const inotifyMask = unix.IN_ONLYDIR | unix.IN_MASK_ADD | unix.IN_CREATE | unix.IN_ATTRIB | unix.IN_DELETE |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_MOVED_FROM | unix.IN_MOVED_TO

// maxDrained bounds the reads of one drain: more than the kernel queues by
// default.
const maxDrained = 128

func newSource(handle func(event)) (source, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	n := &inotify{fd: os.NewFile(uintptr(fd), "inotify"), handle: handle}
	if n.raw, err = n.fd.SyscallConn(); err != nil {
		return nil, err
	}
	n.running.Go(n.run)
	return n, nil
}

func (n *inotify) add(path string, contents bool) (id watched, err error) {
	mask := uint32(inotifyMask)
	if contents {
		mask |= unix.IN_MODIFY
	}
	called := n.raw.Control(func(fd uintptr) {
		var wd int
		wd, err = unix.InotifyAddWatch(int(fd), path, mask)
		id = watched(wd)
	})
	if called != nil {
		return 0, called
	}
	return id, err
}

func (n *inotify) remove(id watched) {
	// The error is that the watch has gone by itself, with its directory.
	_ = n.raw.Control(func(fd uintptr) { _, _ = unix.InotifyRmWatch(int(fd), uint32(id)) })
}

func (n *inotify) drain() {
	_ = n.raw.Control(func(fd uintptr) {
		for range maxDrained {
			if again, _ := n.read(int(fd)); !again {
				return // run meets a failure too
			}
		}
	})
}

// run reads whenever there is something to read.
func (n *inotify) run() {
	var failure error
	err := n.raw.Read(func(fd uintptr) bool {
		again := true
		for again && !n.closing.Load() {
			again, failure = n.read(int(fd))
		}
		return failure != nil
	})
	if err == nil { // else it was closed
		n.handle(event{failure: failure})
	}
}

// read handles one bufferful of events. again is false where there was none.
func (n *inotify) read(fd int) (again bool, err error) {
	n.reading.Lock()
	defer n.reading.Unlock()
	size, err := unix.Read(fd, n.buffer[:])
	switch {
	case err == unix.EAGAIN:
		return false, nil
	case err == unix.EINTR:
		return true, nil
	case err != nil:
		return false, os.NewSyscallError("read", err)
	case size < unix.SizeofInotifyEvent:
		return false, io.ErrUnexpectedEOF
	}
	n.parse(n.buffer[:size])
	return true, nil
}

// parse takes events apart: watch descriptor, mask, cookie, the length of a
// name, and the name, filled up with zeros.
func (n *inotify) parse(events []byte) {
	for len(events) >= unix.SizeofInotifyEvent {
		id := int32(binary.NativeEndian.Uint32(events))
		mask := binary.NativeEndian.Uint32(events[4:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		name := unix.ByteSliceToString(events[unix.SizeofInotifyEvent:end])
		n.handle(event{
			dir: watched(id), name: name,
			attributes: mask&^unix.IN_ISDIR == unix.IN_ATTRIB,
			gone:       mask&unix.IN_IGNORED != 0,
			lost:       mask&unix.IN_Q_OVERFLOW != 0,
		})
		events = events[end:]
	}
}

func (n *inotify) close() error {
	n.closing.Store(true)
	err := n.fd.Close()
	n.running.Wait()
	return err
}
