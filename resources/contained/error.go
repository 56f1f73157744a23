package contained

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// Error is a refused path or read. Its text names the path as the caller gave
// it and never a host path.
type Error struct {
	Rule Rule
	// Message says what is wrong in one sentence.
	Message string
	// Hint says what to do next.
	Hint string
	// Err is the cause for the log; it may name host paths. It is nil where
	// nothing but the path was looked at.
	Err error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Refuse returns an error whose message begins with the quoted path.
func Refuse(rule Rule, path, format string, args ...any) *Error {
	return &Error{Rule: rule, Message: quote(path) + " " + fmt.Sprintf(format, args...), Hint: hints[rule]}
}

// because adds the cause.
func (e *Error) because(err error) *Error {
	e.Err = err
	return e
}

// advise replaces the hint of the rule.
func (e *Error) advise(hint string) *Error {
	e.Hint = hint
	return e
}

// InURI says of a refused path that it came in a URI.
func InURI(uri string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Message = quote(uri) + ": " + e.Message
	}
	return err
}

// maxQuotedBytes is how much of a path a message repeats.
const maxQuotedBytes = 200

// quote makes a path from anywhere fit to be shown: on one line, without
// control characters, and short.
func quote(path string) string {
	if len(path) > maxQuotedBytes {
		return strconv.Quote(path[:maxQuotedBytes]) + "…"
	}
	return strconv.Quote(path)
}

// refusal turns an error of the operating system into one of ours.
func (d *Dir) refusal(name string, err error) *Error {
	return d.describe(name, err).because(err)
}

func (d *Dir) describe(name string, err error) *Error {
	switch {
	case errors.Is(err, d.escape):
		return Refuse(Escape, name, "is a link that leads out of the directory")
	case errors.Is(err, syscall.ELOOP):
		return Refuse(NotFound, name, "is a link that leads nowhere")
	case errors.Is(err, syscall.ENAMETOOLONG):
		return Refuse(Invalid, name, "is too long for a file name")
	case errors.Is(err, syscall.ENOTDIR):
		return Refuse(NotDirectory, name, "takes a file for a directory")
	case errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.EOPNOTSUPP): // the latter on BSD
		return Refuse(SpecialFile, name, "is a socket or a device")
	case errors.Is(err, fs.ErrNotExist):
		return Refuse(NotFound, name, "does not exist")
	case errors.Is(err, fs.ErrPermission):
		return Refuse(Denied, name, "may not be read")
	default:
		return Refuse(Unreadable, name, "cannot be read")
	}
}

// escapeError returns the value by which root says that a path leads out of it.
// The os package does not export that value, but a path that plainly leads
// out gets it without a look at the disk.
func escapeError(root *os.Root) error {
	_, err := root.Lstat("..")
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}
