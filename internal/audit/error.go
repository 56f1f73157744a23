package audit

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Error says that something could not be recorded. Its text names files of the
// host.
type Error struct{ err error }

func (e *Error) Error() string { return "audit log: " + e.err.Error() }

func (e *Error) Unwrap() error { return e.err }

// Reason returns why, without the name of a file.
func (e *Error) Reason() string {
	var (
		place *placeError
		path  *fs.PathError
		link  *os.LinkError
		errno syscall.Errno
	)
	switch {
	case errors.As(e.err, &place):
		return place.fault
	case errors.As(e.err, &errno):
		return errno.Error()
	case errors.As(e.err, &path):
		return path.Err.Error()
	case errors.As(e.err, &link):
		return link.Err.Error()
	case errors.Is(e.err, errBusy):
		return errBusy.Error()
	}
	return "the server's log says why"
}

// placeError says what is wrong with a file or directory of the log.
type placeError struct{ path, fault string }

func (e *placeError) Error() string { return e.path + " " + e.fault }

// errBusy means that other processes did not let this one write for long.
var errBusy = errors.New("other processes do not let go of its lock")
