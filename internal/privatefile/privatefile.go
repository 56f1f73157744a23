// Package privatefile reads and writes small files that belong to this user
// alone, and that several processes share.
//
// Only a regular file of this user is believed, in a directory of this user,
// neither of which anybody else can write. It is replaced as a whole, so that
// readers take no lock.
package privatefile

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// ErrTooLong is a file that is longer than it may be.
var ErrTooLong = errors.New("it is too long")

// File is a file that belongs to this user alone.
type File struct {
	// Dir is its directory, which is made with mode 0700 when there is something
	// to write.
	Dir string
	// Name is what it is called there. The same name with ".new", ".lock" and
	// ".corrupt" behind it is taken too.
	Name string
	// MaxBytes is how long it may be.
	MaxBytes int64
}

// Path is where the file is.
func (f File) Path() string { return filepath.Join(f.Dir, f.Name) }

// open opens the directory, which has to be this user's alone. The caller
// closes it.
func (f File) open() (*os.Root, error) {
	info, err := os.Lstat(f.Dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is no directory", f.Dir)
	}
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(info, opened) {
		err = fmt.Errorf("%s is another directory by now", f.Dir)
	}
	if err == nil {
		err = private(f.Dir, opened)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// create is open where the directory may have to be made.
func (f File) create() (*os.Root, error) {
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return nil, err
	}
	return f.open()
}

// private refuses what is another user's, or what others can write to.
func private(path string, info fs.FileInfo) error {
	switch {
	case !filestat.Ours(info):
		return fmt.Errorf("%s belongs to another user", path)
	case filestat.WritableByOthers(info):
		return fmt.Errorf("%s can be written by other users", path)
	}
	return nil
}

// Read returns what the file holds: an error that is [fs.ErrNotExist] where there
// is none.
func (f File) Read() ([]byte, error) {
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return Locked{f, root}.Read()
}

// Text is [File.Read] for what is kept as a text.
func (f File) Text() (string, error) {
	root, err := f.open()
	if err != nil {
		return "", err
	}
	defer root.Close()
	var text strings.Builder
	err = Locked{f, root}.copyTo(&text)
	return text.String(), err
}

// Locked runs work while no other process does. It makes the directory.
func (f File) Locked(work func(Locked) error) error {
	root, err := f.create()
	if err != nil {
		return err
	}
	defer root.Close()
	lock, err := lockedfile.OpenFile(f.Path()+".lock", os.O_RDWR|os.O_CREATE|openflag.NoFollow|openflag.NonBlock, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	return work(Locked{f, root})
}

// Replace puts a new file in the place of the old one, whatever that is by now. It
// waits for no other process, and makes the directory.
func (f File) Replace(data []byte) error {
	root, err := f.create()
	if err != nil {
		return err
	}
	defer root.Close()
	return Locked{f, root}.replace(f.Name+"."+rand.Text()+".new", data)
}

// Locked is a file that no other process changes.
type Locked struct {
	file File
	root *os.Root
}

// Read is [File.Read].
func (l Locked) Read() ([]byte, error) {
	var data bytes.Buffer
	err := l.copyTo(&data)
	return data.Bytes(), err
}

// copyTo writes to a buffer what the file holds.
func (l Locked) copyTo(to interface {
	io.Writer
	Grow(n int)
}) error {
	opened, err := l.root.OpenFile(l.file.Name, os.O_RDONLY|openflag.NoFollow|openflag.NonBlock, 0)
	if err != nil {
		return err
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || filestat.Links(info) > 1 {
		return fmt.Errorf("%s is a link or no file", l.file.Path())
	}
	if err := private(l.file.Path(), info); err != nil {
		return err
	}
	to.Grow(int(min(info.Size(), l.file.MaxBytes)) + bytes.MinRead)
	size, err := io.Copy(to, io.LimitReader(opened, l.file.MaxBytes+1))
	if err == nil && size > l.file.MaxBytes {
		err = fmt.Errorf("%s: %w", l.file.Path(), ErrTooLong)
	}
	return err
}

// Write puts a new file in the place of the old one, which is there until then.
func (l Locked) Write(data []byte) error {
	if err := l.remove(l.file.Name + ".new"); err != nil {
		return err
	}
	return l.replace(l.file.Name+".new", data)
}

// replace writes a file of another name, and renames it.
func (l Locked) replace(name string, data []byte) error {
	written, err := l.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = written.Write(data)
	if err == nil {
		err = written.Sync()
	}
	if err = errors.Join(err, written.Close()); err == nil {
		err = l.root.Rename(name, l.file.Name)
	}
	if err != nil {
		return errors.Join(err, l.remove(name))
	}
	return nil
}

// SetAside keeps a damaged file under another name.
func (l Locked) SetAside() error { return l.root.Rename(l.file.Name, l.file.Name+".corrupt") }

// Remove removes the file, whatever it is, and what was set aside.
func (l Locked) Remove() error {
	return errors.Join(l.remove(l.file.Name), l.remove(l.file.Name+".corrupt"), l.remove(l.file.Name+".new"))
}

func (l Locked) remove(name string) error {
	if err := l.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
