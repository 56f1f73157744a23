package changes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// transaction changes files of the user, one step after the other, by a journal.
type transaction struct {
	ctx     context.Context
	target  *tree
	journal *journal
	kept    string // directory of the files that are replaced or removed, or empty
	next    int    // number of the next step
	broken  error  // of the journal: nothing is done any more
	// source opens the new content of a regular file.
	source func(s *step) (*os.File, error)
	// original says that what is put was there before: it gets its owner and its
	// time of modification again.
	original bool
}

// conflict is why the user's file is not what it was to be, and refusal why
// something could not be done.
type (
	conflict string
	refusal  string
)

func (c conflict) Error() string { return string(c) }
func (r refusal) Error() string  { return string(r) }

// errDone means that there was nothing to do.
var errDone = errors.New("done already")

// fault is called at each moment at which a test may kill the process.
var fault = func(string) {}

const tempPrefix = ".skills-mcp-"

// do does one step, or nothing. The error is a [conflict], a [refusal] or
// [errDone].
func (t *transaction) do(s step) (*done, error) {
	if t.broken != nil {
		return nil, refusal("the journal cannot be written: there may be no space left for the state of skills-mcp")
	}
	if t.ctx.Err() != nil {
		return nil, refusal("it was canceled before this")
	}
	w, err := t.open(&s)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := t.begin(w); err != nil {
		return nil, err
	}
	fault("begun")
	if err := w.perform(); err != nil {
		return nil, t.skip(&s, err)
	}
	fault("performed")
	return t.finish(w)
}

// begin keeps what is about to go, and writes to the journal what is about to
// be done.
func (t *transaction) begin(w *work) error {
	s := w.step
	s.N = t.next
	if s.Op == opPut || s.Op == opRemove {
		s.Temp = tempPrefix + newName()
	}
	if t.kept != "" && w.now.regular() && s.Op != opChmod {
		s.Keep = strconv.Itoa(s.N)
		if err := w.keep(filepath.Join(t.kept, s.Keep)); err != nil {
			return err
		}
	}
	fault("kept")
	if s.Old != nil {
		is := *w.now
		is.Digest = s.Old.Digest
		s.Old = &is
	}
	t.next++
	if err := t.journal.sync(line{Step: s}); err != nil {
		t.broken = err
		return refusal("the journal cannot be written: " + reason(err))
	}
	return nil
}

// skip writes that a step was not done.
func (t *transaction) skip(s *step, why error) error {
	if err := t.journal.write(line{Skip: &skip{s.N}}); err != nil {
		t.broken = err
	}
	return why
}

// finish writes what the path is now.
func (t *transaction) finish(w *work) (*done, error) {
	d := &done{N: w.step.N}
	if w.step.New != nil {
		now, err := stateAt(w.dirfd(), w.base)
		if err != nil { // the user was quick
			now = w.step.New
		}
		now.Digest = w.step.New.Digest
		d.New = now
	}
	if err := t.journal.write(line{Done: d}); err != nil {
		t.broken = err // recovery sees what was done
	}
	fault("done")
	return d, nil
}

// work is a step with what it needs open.
type work struct {
	*transaction
	step *step
	dir  *os.File // of the path
	base string   // its name there
	now  *state   // what is there; nil is nothing
	old  *os.File // that, if it is a regular file
}

// open looks whether the path is as it is to be.
func (t *transaction) open(s *step) (*work, error) {
	dir, base, err := t.target.parent(s.Path)
	if missing(err) && s.New == nil {
		return nil, errDone
	}
	if err != nil {
		return nil, refuse(err)
	}
	w := &work{transaction: t, step: s, dir: dir, base: base}
	if err := w.look(); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func refuse(err error) error {
	if missing(err) {
		return conflict(reason(err))
	}
	return refusal(reason(err))
}

func (w *work) dirfd() int { return int(w.dir.Fd()) }

func (w *work) close() {
	w.dir.Close()
	if w.old != nil {
		w.old.Close()
	}
}

func (w *work) look() error {
	now, err := w.target.stat(w.step.Path)
	if err != nil && !missing(err) {
		return refuse(err)
	}
	if err == nil {
		w.now = now
	}
	if w.target.is(w.step.Path, w.now, w.step.New) {
		return errDone
	}
	if !w.target.is(w.step.Path, w.now, w.step.Old) {
		return conflict(differs(w.now, w.step.Old))
	}
	if err := w.mayWrite(); err != nil {
		return err
	}
	if w.now.regular() && w.step.Op != opChmod {
		return w.openOld()
	}
	return nil
}

// mayWrite holds root to what the user said of a directory: the kernel does not.
func (w *work) mayWrite() error {
	dir, err := stateOf(w.dirfd())
	if err == nil && dir.Mode&0o222 == 0 && w.step.Op != opChmod {
		return refusal("its directory is read-only")
	}
	return err
}

func (w *work) openOld() error {
	fd, err := unix.Openat(w.dirfd(), w.base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if isErrno(err, unix.EACCES) {
		return refusal("it cannot be read, so that it could not be brought back")
	}
	if err != nil {
		return refuse(err)
	}
	w.old = os.NewFile(uintptr(fd), w.base)
	return w.checkOld()
}

const raced = "it is being changed at this moment"

// checkOld makes sure that the open file is what was looked at, and still is.
func (w *work) checkOld() error {
	now, err := stateOf(int(w.old.Fd()))
	if err != nil {
		return refuse(err)
	}
	if !now.sameFile(w.now) {
		return conflict(raced)
	}
	return nil
}

// keep copies the file that is about to go. A link would not do, since programs
// can write to files in place.
func (w *work) keep(name string) error {
	kept, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return refusal("a copy of it cannot be kept: " + reason(err))
	}
	defer kept.Close()
	if err = unix.IoctlFileClone(int(kept.Fd()), int(w.old.Fd())); err != nil {
		_, err = io.Copy(kept, io.LimitReader(w.old, w.now.Size+1))
	}
	copyAttributes(w.old, kept)
	if err == nil {
		err = kept.Sync()
	}
	if err != nil {
		return refusal("a copy of it cannot be kept: " + reason(err))
	}
	if w.step.Old.Digest == "" {
		hash := sha256.New()
		if _, err := io.Copy(hash, io.NewSectionReader(w.old, 0, w.now.Size)); err != nil {
			return refuse(err)
		}
		was := *w.step.Old
		was.Digest = digestPrefix + hex.EncodeToString(hash.Sum(nil))
		w.step.Old = &was
	}
	return w.checkOld()
}

// perform does the step, or leaves all as it was.
func (w *work) perform() error {
	switch w.step.Op {
	case opPut:
		return w.put()
	case opRemove:
		return w.remove()
	case opRmdir:
		return w.rmdir()
	default:
		return w.chmod()
	}
}

const notEmpty = "the directory holds what stays: what programs did not see, or what was not removed"

func (w *work) rmdir() error {
	err := unix.Unlinkat(w.dirfd(), w.base, unix.AT_REMOVEDIR)
	if isErrno(err, unix.ENOTEMPTY, unix.EEXIST) {
		return conflict(notEmpty)
	}
	if err != nil {
		return refuse(err)
	}
	return w.syncDir()
}

func (w *work) chmod() error {
	fd, err := unix.Openat(w.dirfd(), w.base, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return refuse(err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return refuse(err)
	}
	now := fromStat(&st)
	switch {
	case now.Inode != w.now.Inode || now.Mode != w.now.Mode:
		return conflict(raced)
	case now.regular() && now.links > 1:
		return refusal("it has other names, hard links, whose permissions would change too")
	}
	if err := chmodFD(fd, st.Mode&0o7000|uint32(w.step.New.Mode.Perm())); err != nil {
		return refuse(err)
	}
	return nil
}

func (w *work) syncDir() error {
	_ = w.dir.Sync() // not every file system can
	return nil
}

// put makes what is new under a temporary name, and changes the names.
func (w *work) put() error {
	inode, err := w.make()
	if err == nil {
		fault("made")
		if err = w.journal.write(line{Temp: &temp{w.step.N, inode}}); err != nil {
			w.broken, err = err, refusal("the journal cannot be written: "+reason(err))
		}
	}
	if err == nil {
		fault("noted")
		err = w.place(inode)
	}
	if err != nil {
		removeTemp(w.dirfd(), w.step.Temp, inode) // else recovery does
	}
	return err
}

// removeTemp removes what was made under a temporary name, if that is what has
// it. An inode of zero is any.
func removeTemp(dirfd int, name string, inode uint64) {
	is, err := stateAt(dirfd, name)
	if err != nil || inode != 0 && is.Inode != inode {
		return
	}
	_ = unlink(dirfd, name, is)
}

// unlink removes a file, or a directory that is empty.
func unlink(dirfd int, name string, is *state) error {
	if is.dir() {
		return unix.Unlinkat(dirfd, name, unix.AT_REMOVEDIR)
	}
	return unix.Unlinkat(dirfd, name, 0)
}

// make makes what is new under the temporary name.
func (w *work) make() (inode uint64, err error) {
	switch s := w.step.New; {
	case s.dir():
		err = w.makeDir()
	case s.symlink():
		err = unix.Symlinkat(s.Link, w.dirfd(), w.step.Temp)
	default:
		err = w.makeFile()
	}
	if err != nil {
		var known refusal
		if errors.As(err, &known) {
			return 0, known
		}
		return 0, refuse(err)
	}
	made, err := stateAt(w.dirfd(), w.step.Temp)
	if err != nil {
		return 0, refuse(err)
	}
	return made.Inode, nil
}

func (w *work) makeDir() error {
	if err := unix.Mkdirat(w.dirfd(), w.step.Temp, 0o700); err != nil {
		return err
	}
	fd, err := unix.Openat(w.dirfd(), w.step.Temp, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	made := os.NewFile(uintptr(fd), w.step.Temp)
	defer made.Close()
	w.giveOwner(made)
	var st unix.Stat_t // the bit that hands down the group stays
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	return unix.Fchmod(fd, st.Mode&unix.S_ISGID|uint32(w.step.New.Mode.Perm()))
}

func (w *work) makeFile() error {
	fd, err := unix.Openat(w.dirfd(), w.step.Temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	made := os.NewFile(uintptr(fd), w.step.Temp)
	defer made.Close()
	fault("created")
	source, err := w.source(w.step)
	if err != nil {
		return err
	}
	defer source.Close()
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(made, hash), io.LimitReader(source, w.step.New.Size+1))
	if err != nil {
		return err
	}
	if n != w.step.New.Size || digestPrefix+hex.EncodeToString(hash.Sum(nil)) != w.step.New.Digest {
		return refusal("what is held changed since it was looked at")
	}
	fault("copied")
	w.giveOwner(made)
	if w.original {
		copyAttributes(source, made)
	} else if w.old != nil {
		copyAttributes(w.old, made)
	}
	if err := made.Chmod(w.step.New.Mode.Perm()); err != nil {
		return err
	}
	if w.original {
		at := unix.NsecToTimespec(w.step.New.Modified)
		if err := unix.UtimesNanoAt(w.dirfd(), w.step.Temp, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
	}
	return made.Sync()
}

// giveOwner makes what is new belong to whom it is to belong to, where this
// process may do that.
func (w *work) giveOwner(made *os.File) {
	like, err := stateOf(w.dirfd())
	if w.now != nil {
		like = w.now
	}
	if w.original {
		like = w.step.New
	}
	is, errMade := stateOf(int(made.Fd()))
	if err != nil || errMade != nil || is.UID == like.UID && is.GID == like.GID {
		return
	}
	if made.Chown(int(like.UID), int(like.GID)) != nil {
		_ = made.Chown(-1, int(like.GID)) // a group of the user's
	}
}

// place gives the new file its name.
func (w *work) place(inode uint64) error {
	if w.now == nil {
		if err := renameNew(w.dirfd(), w.step.Temp, w.base, w.step.New.dir()); err != nil {
			if isErrno(err, unix.EEXIST, unix.ENOTEMPTY, unix.ENOTDIR, unix.EISDIR) {
				return conflict(differs(w.step.New, nil))
			}
			return refuse(err)
		}
		return w.syncDir()
	}
	held, err := w.lease()
	if err != nil {
		return err
	}
	defer held.release()
	if err := w.checkName(); err != nil {
		return err
	}
	fault("checked")
	err = unix.Renameat2(w.dirfd(), w.step.Temp, w.dirfd(), w.base, unix.RENAME_EXCHANGE)
	if isErrno(err, unix.EINVAL, unix.ENOSYS) { // the file system cannot: its last look was a moment ago
		err = unix.Renameat(w.dirfd(), w.step.Temp, w.dirfd(), w.base)
		if err == nil {
			return w.syncDir()
		}
	}
	if err != nil {
		return refuse(err)
	}
	fault("exchanged")
	if !w.cameOut() || held.broken() {
		return w.swapBack(inode)
	}
	if err := unlink(w.dirfd(), w.step.Temp, w.now); err != nil {
		back := w.swapBack(inode)
		if isErrno(err, unix.ENOTEMPTY, unix.EEXIST) {
			return conflict(notEmpty)
		}
		return back
	}
	fault("unlinked")
	return w.syncDir()
}

// checkName makes sure that the name is still that of what was looked at.
func (w *work) checkName() error {
	now, err := stateAt(w.dirfd(), w.base)
	if err != nil || !now.sameFile(w.now) {
		return conflict(raced)
	}
	return nil
}

// cameOut reports whether what has the temporary name now is what was looked
// at. To change its name has changed the time of its status.
func (w *work) cameOut() bool {
	out, err := stateAt(w.dirfd(), w.step.Temp)
	if err != nil {
		return false
	}
	out.Changed = w.now.Changed
	return out.sameFile(w.now) && out.Link == w.now.Link
}

// swapBack changes the names back, since what came out was not what was looked
// at. It may be replaced meanwhile, again and again.
func (w *work) swapBack(inode uint64) error {
	for range 100 {
		fault("swapping")
		err := unix.Renameat2(w.dirfd(), w.step.Temp, w.dirfd(), w.base, unix.RENAME_EXCHANGE)
		if isErrno(err, unix.ENOENT) { // it was removed: what came out is what there is
			err = renameNew(w.dirfd(), w.step.Temp, w.base, false)
			if err == nil {
				return conflict(raced)
			}
		}
		if err != nil {
			continue
		}
		if out, err := stateAt(w.dirfd(), w.step.Temp); err == nil && out.Inode == inode {
			return conflict(raced) // put removes it
		}
	}
	return w.rescue()
}

// rescue puts what has the temporary name beside it under a name that says what
// it is, since nothing of the user's may be lost.
func (w *work) rescue() error {
	saved, err := rescue(w.dirfd(), w.step.Temp, w.base)
	if err != nil {
		return refusal(raced)
	}
	return conflict(fmt.Sprintf("it kept changing; one state of it is saved beside it as %q", saved))
}

func rescue(dirfd int, temp, base string) (saved string, err error) {
	saved = base + ".saved-" + newName()
	if err := renameNew(dirfd, temp, saved, false); isErrno(err, unix.ENAMETOOLONG) {
		saved = "saved-" + newName()
		return saved, renameNew(dirfd, temp, saved, false)
	} else {
		return saved, err
	}
}

// remove gives what is to go a temporary name, looks at it, and removes it.
func (w *work) remove() error {
	held, err := w.lease()
	if err != nil {
		return err
	}
	defer held.release()
	if err := w.checkName(); err != nil {
		return err
	}
	fault("checked")
	if err := renameNew(w.dirfd(), w.base, w.step.Temp, false); err != nil {
		return refuse(err)
	}
	fault("moved")
	if !w.cameOut() || held.broken() {
		if err := renameNew(w.dirfd(), w.step.Temp, w.base, false); err != nil {
			return w.rescue()
		}
		return conflict(raced)
	}
	if err := unix.Unlinkat(w.dirfd(), w.step.Temp, 0); err != nil {
		return errors.Join(renameNew(w.dirfd(), w.step.Temp, w.base, false), refuse(err))
	}
	fault("unlinked")
	return w.syncDir()
}

// renameNew gives a file a name that is free, or fails with EEXIST. A directory
// that the file system can only rename in the old way takes the place of an
// empty one.
func renameNew(dirfd int, from, to string, dir bool) error {
	err := unix.Renameat2(dirfd, from, dirfd, to, unix.RENAME_NOREPLACE)
	if !isErrno(err, unix.EINVAL, unix.ENOSYS) {
		return err
	}
	if dir {
		return unix.Renameat(dirfd, from, dirfd, to)
	}
	if err := unix.Linkat(dirfd, from, dirfd, to, 0); err != nil {
		return err
	}
	return unix.Unlinkat(dirfd, from, 0)
}
