package wire

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// maxFiles is how many descriptors may be sent at once; the kernel's bound.
const maxFiles = 253

// Pair returns the two ends of a connection that carries descriptors too. Ours is
// for Go's poller, and theirs blocks.
func Pair() (ours, theirs *os.File, err error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	err = unix.SetNonblock(ends[0], true)
	return os.NewFile(uintptr(ends[0]), "our end"), os.NewFile(uintptr(ends[1]), "their end"), err
}

// SendFiles sends a byte with descriptors over a socket that is empty, so that it
// does not block.
func SendFiles(to *os.File, kind byte, fds ...int) error {
	return unix.Sendmsg(int(to.Fd()), []byte{kind}, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL)
}

// ReceiveFiles waits for a byte and the descriptors that come with it, unless the
// flags say not to wait.
func ReceiveFiles(from *os.File, flags int) (fds []int, kind byte, err error) {
	conn, err := from.SyscallConn()
	if err != nil {
		return nil, 0, err
	}
	data, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(4*maxFiles))
	var n, rightsLen, got int
	waitErr := conn.Read(func(fd uintptr) bool {
		for {
			n, rightsLen, got, _, err = unix.Recvmsg(int(fd), data, rights, flags|unix.MSG_CMSG_CLOEXEC)
			if err != unix.EINTR {
				return err != unix.EAGAIN || flags&unix.MSG_DONTWAIT != 0
			}
		}
	})
	if err == nil {
		err = waitErr
	}
	if err != nil || n == 0 || got&unix.MSG_CTRUNC != 0 {
		return nil, 0, fmt.Errorf("no descriptors: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(rights[:rightsLen])
	if err != nil || len(messages) != 1 {
		return nil, 0, ErrInvalid
	}
	fds, err = unix.ParseUnixRights(&messages[0])
	return fds, data[0], err
}
