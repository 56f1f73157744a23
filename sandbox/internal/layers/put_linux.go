package layers

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Modes of what is new.
const (
	newFileMode = 0o644
	newDirMode  = 0o755
)

// Put writes a file into the upper directory of a share, of which the caller has
// the directories for changes for itself: a whole new file in the place of what
// was there, with its permissions, and the directories that lead to it. Links are
// followed as programs would follow them, so that what they lead to is written.
// created reports that there was nothing.
//
// The error is that of edit, or is or wraps [fs.ErrPermission], [ErrOutside],
// [ErrSpecial], [ErrDirectory], [ErrNoChanges], [ErrTooLarge], or is one of the
// system.
func Put(share sandbox.Share, path string, edit Edit) (created bool, err error) {
	if err := makeReady(share); err != nil {
		return false, err
	}
	w, err := openWalker(share)
	if err != nil {
		return false, err
	}
	defer w.close()
	found, err := w.walk(path)
	if err != nil {
		return false, fault(err)
	}
	created = found.layer < 0
	if err := edit.Check(joined(found.path), created); err != nil {
		return false, err
	}
	mode := uint32(newFileMode)
	var old []byte
	if !created {
		if old, err = w.read(found, edit.Limit); err != nil {
			return false, fault(err)
		}
		mode = found.stat.Mode & permissionBits
	} else if !w.owner.mayWrite(&found.stat) {
		return false, unix.EACCES
	}
	data, err := edit.Change(old)
	if err != nil {
		return false, err
	}
	return created, put(share, found.path, data, mode)
}

// read reads a file that is to be replaced.
func (w *walker) read(found reached, limit int64) ([]byte, error) {
	if found.isDir() {
		return nil, ErrDirectory
	}
	file, err := w.openFile(found)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if !w.owner.mayWrite(&found.stat) {
		return nil, fmt.Errorf("%w: it is read-only, or another user's", fs.ErrPermission)
	}
	if limit == 0 {
		return []byte{}, nil
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	return data, err
}

// put writes a file into upper, at a path that goes through no link.
func put(share sandbox.Share, path []string, data []byte, mode uint32) error {
	u, err := openUpper(share)
	if err != nil {
		return err
	}
	defer u.close()
	lower, err := openStack("", share.Layers)
	if err != nil {
		return err
	}
	defer lower.close()
	stat, err := u.top.self()
	if err != nil {
		return err
	}
	s := storer{upper: u}
	at := &spot{now: &node{to: stampOf(&stat)}, copy: noDir, upper: u.top, lower: lower, listed: true}
	return s.putBelow(at, path, data, stamp{mode: mode, mtime: time.Now().UnixNano()})
}

// putBelow writes a file below a directory.
func (s *storer) putBelow(at *spot, path []string, data []byte, like stamp) error {
	name := path[0]
	if len(path) == 1 {
		return s.leave(at, s.putFile(at, name, like, func(file *os.File) error {
			_, err := file.Write(data)
			return err
		}))
	}
	below := &spot{above: at, name: name, copy: noDir, upper: noDir}
	defer below.close()
	err := below.openUpper()
	if err == nil {
		below.now, err = below.asItIs()
	}
	if err == nil {
		err = s.putBelow(below, path[1:], data, like)
	}
	return s.leave(at, err)
}

// asItIs returns the state of a directory as programs see it, or of a new one. A
// new one shows nothing of what the user has of that name.
func (at *spot) asItIs() (*node, error) {
	if at.upper != noDir {
		stat, err := at.upper.self()
		return &node{to: stampOf(&stat)}, err
	}
	_, stat, visible := at.above.lowerEntry(at.name)
	if visible && stat.Mode&unix.S_IFMT == unix.S_IFDIR {
		if !at.hidden() {
			return &node{to: stampOf(&stat)}, nil
		}
		at.opaque = true
	}
	return &node{to: stamp{mode: unix.S_IFDIR | newDirMode, mtime: time.Now().UnixNano()}}, nil
}

// hidden reports whether upper has something in the place of a directory.
func (at *spot) hidden() bool {
	if at.above.upper == noDir {
		return false
	}
	_, err := at.above.upper.stat(at.name)
	return err == nil
}
