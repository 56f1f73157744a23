package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/DeRuina/timberjack"
	"github.com/gofrs/flock"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// Names in the directory. Rotated files are named audit-TIME-size.jsonl.
const (
	currentName = "audit.jsonl"
	rotatedGlob = "audit-*.jsonl"
	lockName    = "audit.lock"
	runningName = "running"
	rotatedTime = "2006-01-02T15-04-05.000000000"
)

const (
	// lockTimeout is how long other processes may keep a write waiting. One holds
	// the lock for microseconds, unless it is stopped or the disk stalls.
	lockTimeout = 10 * time.Second
	// lockRetry is how long is waited between two attempts.
	lockRetry = time.Millisecond
)

// directory is where a log is. It is looked at by its path again for each line,
// so that one that is taken away or moved is made again.
type directory string

func newDirectory(path string) (directory, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("audit: the directory %q is not absolute", path)
	}
	return directory(filepath.Clean(path)), nil
}

func (d directory) current() string { return filepath.Join(string(d), currentName) }

func (d directory) running() string { return filepath.Join(string(d), runningName) }

// prepare makes the directory, and refuses one that others can write to.
func (d directory) prepare() error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	parent, err := os.Stat(filepath.Dir(string(d)))
	if err == nil {
		err = checkParent(filepath.Dir(string(d)), parent)
	}
	if err != nil {
		return err
	}
	return checkOwn(string(d), fs.ModeDir)
}

// checkOwn refuses what is not of this type, or others can write to.
func checkOwn(path string, want fs.FileMode) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return checkInfo(path, info, want)
}

func checkInfo(path string, info fs.FileInfo, want fs.FileMode) error {
	kind := "a file"
	if want.IsDir() {
		kind = "a directory"
	}
	switch {
	case info.Mode().Type() != want:
		return &placeError{path, "is not " + kind + " but something else, such as a link; move it away"}
	case !filestat.Ours(info):
		return &placeError{path, "belongs to another user; move it away, or give it back with chown"}
	case filestat.WritableByOthers(info):
		return &placeError{path, "can be written by other users; take that away with chmod go-w"}
	}
	return nil
}

// lock takes the log's lock.
func (d directory) lock() (unlock func(), err error) {
	lock := flock.New(filepath.Join(string(d), lockName),
		flock.SetFlag(os.O_CREATE|os.O_RDWR|openflag.NoFollow|openflag.NonBlock), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
	defer cancel()
	switch locked, err := lock.TryLockContext(ctx, lockRetry); {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errBusy
	case err != nil:
		return nil, err
	case !locked:
		return nil, errBusy
	}
	return func() { _ = lock.Close() }, nil
}

// open opens the file that is written, and returns its length.
func (d directory) open() (*os.File, int64, error) {
	file, err := os.OpenFile(d.current(), os.O_APPEND|os.O_CREATE|os.O_RDWR|openflag.NoFollow|openflag.NonBlock|openflag.NoTerminal, 0o600)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil {
		err = checkInfo(d.current(), info, 0)
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// rotate renames the file that is written, and removes the oldest
// ones, so that so many are left.
func (d directory) rotate(files int) error {
	rotor := &timberjack.Logger{Filename: d.current(), FileMode: 0o600, MaxBackups: files - 1, Compression: "none", BackupTimeFormat: rotatedTime}
	err := rotor.RotateWithReason("size")
	return errors.Join(err, rotor.Close()) // which waits for the removal
}

// append writes lines, at most so many that one file holds them, the log being
// locked: all of them or, where there is an error, none. A line that another
// process could not finish is ended first.
func (l *Log) append(lines ...[]byte) error {
	text := bytes.Join(lines, nil)
	file, size, err := l.dir.open()
	if err != nil {
		return err
	}
	if size > 0 && size+int64(len(text)) > l.opts.MaxBytes {
		if err := errors.Join(file.Close(), l.dir.rotate(l.opts.MaxFiles)); err != nil {
			return err
		}
		if file, size, err = l.dir.open(); err != nil {
			return err
		}
	}
	if torn(file, size) {
		text = append([]byte("\n"), text...)
	}
	if _, err := file.Write(text); err != nil {
		// What is on the disk of it would be a broken line.
		return errors.Join(err, file.Truncate(size), file.Close())
	}
	return file.Close()
}

// torn reports whether a file ends within a line.
func torn(file *os.File, size int64) bool {
	if size == 0 {
		return false
	}
	var last [1]byte
	_, err := file.ReadAt(last[:], size-1)
	return err == nil && last[0] != '\n'
}

// excluding does something while no other goroutine or process uses the log.
func (l *Log) excluding(do func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.alone(do)
}

// alone does something while no other process uses the log; the caller holds the
// lock.
func (l *Log) alone(do func() error) error {
	if err := l.dir.prepare(); err != nil {
		return err
	}
	unlock, err := l.dir.lock()
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}
