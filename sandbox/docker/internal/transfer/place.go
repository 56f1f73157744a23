package transfer

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

// stagedPrefix begins the names of files that are not whole yet.
const stagedPrefix = ".incoming-"

var (
	// errInTheWay means that there is something that must not be replaced.
	errInTheWay = errors.New("something else is in the way")
	errName     = errors.New("this system has no such name")
)

// place is the directory in which is stored what comes.
type place struct {
	root    *os.Root
	staging string // where files are until they are whole
	// modes are what directories get at the end: until then their owner may
	// write in them.
	modes map[string]fs.FileMode
	order []string
	// doomed is what is to be removed once everything else is there: what has
	// another name now must not be lost with a stream that is cut off. new is
	// what has come since, which may go by a doomed name too where names are
	// equal in spite of their case.
	doomed []string
	new    map[filestat.ID]bool
	kept   int // of what was doomed
}

func newPlace(root *os.Root, staging string) *place {
	return &place{root: root, staging: staging, modes: make(map[string]fs.FileMode), new: make(map[filestat.ID]bool)}
}

// noPlace tells whether the error concerns one path alone: others may have put
// something else there, or the system does not have such links. Everything else
// would go wrong for what follows too.
func noPlace(err error) bool {
	for _, all := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS} {
		if errors.Is(err, all) {
			return false
		}
	}
	return true
}

// open tries something again, after the directories above a path were opened
// to their owner.
func (p *place) open(name string, try func() error) error {
	err := try()
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	for i := range name {
		if name[i] == '/' {
			p.unlock(name[:i])
		}
	}
	p.unlock(".")
	return try()
}

// unlock opens a directory to its owner until the end.
func (p *place) unlock(dir string) {
	info, err := p.root.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode()&0o700 == 0o700 {
		return
	}
	if p.root.Chmod(dir, info.Mode().Perm()|0o700) == nil {
		p.setMode(dir, info.Mode().Perm())
	}
}

func (p *place) setMode(dir string, mode fs.FileMode) {
	if _, known := p.modes[dir]; !known {
		p.order = append(p.order, dir)
	}
	p.modes[dir] = mode
}

// finish gives directories their modes, those below before those above.
func (p *place) finish() (err error) {
	slices.Sort(p.order)
	for _, dir := range slices.Backward(p.order) {
		info, statErr := p.root.Lstat(dir)
		if statErr != nil || !info.IsDir() {
			continue // others have removed it
		}
		if chmodErr := p.root.Chmod(dir, p.modes[dir]); chmodErr != nil && !noPlace(chmodErr) {
			err = chmodErr
		}
	}
	return err
}

func (p *place) directory(name string, mode fs.FileMode) error {
	if !local(name) {
		return errName
	}
	if info, err := p.root.Lstat(name); err != nil || !info.IsDir() {
		if err == nil {
			if err := p.remove(name); err != nil {
				return err
			}
		}
		if err := p.open(name, func() error { return p.root.Mkdir(name, 0o700) }); err != nil {
			return err
		}
	}
	p.setMode(name, mode)
	return p.keep(name)
}

// stage makes something that has no name of its own yet, and gives the one
// that it has instead.
func (p *place) stage(try func(name string) error) (string, error) {
	name := path.Join(p.staging, stagedPrefix+rand.Text())
	err := p.open(name, func() error { return try(name) })
	if err != nil && p.staging != "" { // which the stream may have removed
		name = path.Base(name)
		err = p.open(name, func() error { return try(name) })
	}
	return name, err
}

// stageFile makes a file to be written.
func (p *place) stageFile() (f *os.File, staged string, err error) {
	staged, err = p.stage(func(name string) (err error) {
		f, err = p.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	return f, staged, err
}

func (p *place) discard(staged string) error { return p.root.Remove(staged) }

func (p *place) file(staged, name string, mode fs.FileMode, mtime time.Time) error {
	err := p.root.Chmod(staged, mode)
	if err == nil {
		err = p.root.Chtimes(staged, mtime, mtime)
	}
	if err == nil {
		err = p.keep(staged)
	}
	if err == nil {
		err = p.put(staged, name)
	}
	if err != nil {
		return errors.Join(err, p.discard(staged))
	}
	return nil
}

// put gives a staged file or link its name, in place of whatever has it.
func (p *place) put(staged, name string) error {
	if !local(name) {
		return errName
	}
	if info, err := p.root.Lstat(name); err == nil && info.IsDir() {
		if err := p.removeDoomed(); err != nil { // what was in it
			return err
		}
		if err := p.remove(name); err != nil {
			return err
		}
	}
	return p.open(name, func() error { return p.root.Rename(staged, name) })
}

func (p *place) symlink(name, target string) error {
	staged, err := p.stage(func(name string) error { return p.root.Symlink(target, name) })
	if err != nil {
		return err
	}
	if err = p.keep(staged); err == nil {
		err = p.put(staged, name)
	}
	if err != nil {
		return errors.Join(err, p.discard(staged))
	}
	return nil
}

// hardlink gives a regular file another name.
func (p *place) hardlink(name, target string) error {
	if !local(target) {
		return errName
	}
	info, err := p.root.Lstat(target)
	if err == nil && !info.Mode().IsRegular() {
		err = errInTheWay
	}
	if err != nil {
		return err
	}
	staged, err := p.stage(func(name string) error { return p.root.Link(target, name) })
	if err != nil {
		return err
	}
	err = p.put(staged, name)
	// Renaming one name of a file to another one of it does nothing.
	if discardErr := p.discard(staged); err == nil && !errors.Is(discardErr, fs.ErrNotExist) {
		err = discardErr
	}
	return err
}

// size is that of a regular file, or 0.
func (p *place) size(name string) int64 {
	info, err := p.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}
