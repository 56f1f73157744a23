package transfer

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

// identified reports whether files have identities.
const identified = runtime.GOOS != "windows"

// stagedPrefix begins the names of files that are not whole yet.
const stagedPrefix = ".incoming-"

var (
	// errInTheWay means that there is something that must not be replaced.
	errInTheWay = errors.New("something else is in the way")
	errName     = errors.New("this system has no such name")
)

// destination is the directory in which is stored what comes.
type destination struct {
	root    *os.Root
	staging string // where files are until they are whole
	// modes are what directories get at the end: until then their owner may
	// write in them.
	modes map[string]fs.FileMode
	// deferred is what is to be removed once everything else is there: what has
	// another name now must not be lost with a stream that is cut off. new is
	// what has come since, which may go by such a name too where names are
	// equal in spite of their case.
	deferred []string
	new      map[filestat.ID]bool
	kept     int // of what was to be removed
}

func newDestination(root *os.Root, staging string) *destination {
	return &destination{root: root, staging: staging, modes: make(map[string]fs.FileMode), new: make(map[filestat.ID]bool)}
}

// concernsPathAlone reports whether an error does: others may have put something
// else there, or the system does not have such links. Everything else would go
// wrong for what follows too.
func concernsPathAlone(err error) bool {
	return !slices.ContainsFunc([]error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS},
		func(all error) bool { return errors.Is(err, all) })
}

// open tries something again, after the directories above a path were opened
// to their owner.
func (d *destination) open(name string, try func() error) error {
	err := try()
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	for i := range name {
		if name[i] == '/' {
			d.unlock(name[:i])
		}
	}
	d.unlock(".")
	return try()
}

// unlock opens a directory to its owner until the end.
func (d *destination) unlock(dir string) {
	info, err := d.root.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode()&0o700 == 0o700 {
		return
	}
	if d.root.Chmod(dir, info.Mode().Perm()|0o700) == nil {
		d.modes[dir] = info.Mode().Perm()
	}
}

// finish sets directories' modes, those below before those above.
func (d *destination) finish() (err error) {
	for _, dir := range slices.Backward(slices.Sorted(maps.Keys(d.modes))) {
		info, statErr := d.root.Lstat(dir)
		if statErr != nil || !info.IsDir() {
			continue // others have removed it
		}
		if chmodErr := d.root.Chmod(dir, d.modes[dir]); chmodErr != nil && !concernsPathAlone(chmodErr) {
			err = chmodErr
		}
	}
	return err
}

func (d *destination) directory(name string, mode fs.FileMode) error {
	if !local(name) {
		return errName
	}
	if info, err := d.root.Lstat(name); err != nil || !info.IsDir() {
		if err == nil {
			if err := d.remove(name); err != nil {
				return err
			}
		}
		if err := d.open(name, func() error { return d.root.Mkdir(name, 0o700) }); err != nil {
			return err
		}
	}
	d.modes[name] = mode
	return d.markNew(name)
}

// stage makes something that has no name of its own yet, and returns the one
// that it has instead.
func (d *destination) stage(try func(name string) error) (string, error) {
	name := path.Join(d.staging, stagedPrefix+rand.Text())
	err := d.open(name, func() error { return try(name) })
	if err != nil && d.staging != "" { // which the stream may have removed
		name = path.Base(name)
		err = d.open(name, func() error { return try(name) })
	}
	return name, err
}

// stageFile makes a file to be written.
func (d *destination) stageFile() (f *os.File, staged string, err error) {
	staged, err = d.stage(func(name string) (err error) {
		f, err = d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	return f, staged, err
}

func (d *destination) file(staged, name string, mode fs.FileMode, mtime time.Time) error {
	err := d.root.Chmod(staged, mode)
	if err == nil {
		err = d.root.Chtimes(staged, mtime, mtime)
	}
	return d.publish(staged, name, err)
}

func (d *destination) symlink(name, target string) error {
	staged, err := d.stage(func(name string) error { return d.root.Symlink(target, name) })
	if err != nil {
		return err
	}
	return d.publish(staged, name, nil)
}

// publish puts what is staged where it belongs, unless something went wrong with
// it, or discards it.
func (d *destination) publish(staged, name string, err error) error {
	if err == nil {
		err = d.markNew(staged)
	}
	if err == nil {
		err = d.put(staged, name)
	}
	if err != nil {
		return errors.Join(err, d.root.Remove(staged))
	}
	return nil
}

// put renames a staged file or link, over whatever has that name.
func (d *destination) put(staged, name string) error {
	if !local(name) {
		return errName
	}
	if info, err := d.root.Lstat(name); err == nil && info.IsDir() {
		if err := d.removeDeferred(); err != nil { // what was in it
			return err
		}
		if err := d.remove(name); err != nil {
			return err
		}
	}
	return d.open(name, func() error { return d.root.Rename(staged, name) })
}

// hardlink makes another name of a regular file.
func (d *destination) hardlink(name, target string) error {
	if !local(target) {
		return errName
	}
	info, err := d.root.Lstat(target)
	if err == nil && !info.Mode().IsRegular() {
		err = errInTheWay
	}
	if err != nil {
		return err
	}
	staged, err := d.stage(func(name string) error { return d.root.Link(target, name) })
	if err != nil {
		return err
	}
	err = d.put(staged, name)
	// Renaming one name of a file to another one of it does nothing.
	if discardErr := d.root.Remove(staged); err == nil && !errors.Is(discardErr, fs.ErrNotExist) {
		err = discardErr
	}
	return err
}

// size is that of a regular file, or 0.
func (d *destination) size(name string) int64 {
	info, err := d.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// remove removes a file or an empty directory. One that is not empty holds
// what others have made.
func (d *destination) remove(name string) error {
	err := d.open(name, func() error { return d.root.Remove(name) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// deferRemoval has a file or an empty directory removed at the end, or now where
// what comes could not be told from it.
func (d *destination) deferRemoval(name string) error {
	d.deferred = append(d.deferred, name)
	if !identified {
		return d.removeDeferred()
	}
	return nil
}

func (d *destination) removeDeferred() error {
	deferred := d.deferred
	d.deferred = nil
	for _, name := range deferred {
		if info, err := d.root.Lstat(name); err == nil && d.new[filestat.Of(info).ID] {
			continue
		}
		if err := d.remove(name); err != nil {
			if !concernsPathAlone(err) {
				return err
			}
			d.kept++
		}
	}
	return nil
}

// markNew keeps what is there from being removed by another name.
func (d *destination) markNew(name string) error {
	if len(d.deferred) == 0 {
		return nil
	}
	info, err := d.root.Lstat(name)
	if err == nil {
		d.new[filestat.Of(info).ID] = true
	}
	return err
}
