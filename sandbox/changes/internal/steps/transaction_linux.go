package steps

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

// Transaction changes files of the user, one step after the other, by a journal.
type Transaction struct {
	Ctx     context.Context
	Target  *files.Tree
	Journal *Journal
	Kept    string // directory of the files that are replaced or removed, or empty
	Next    int    // number of the next step
	broken  error  // of the journal: nothing is done any more
	// Source opens the new content of a regular file.
	Source func(s *Step) (*os.File, error)
	// Original says that what is put was there before: it gets its owner and its
	// time of modification again.
	Original bool
}

// Conflict is why the user's file is not what it was to be.
type Conflict string

// refusal is why something could not be done.
type refusal string

func (c Conflict) Error() string { return string(c) }
func (r refusal) Error() string  { return string(r) }

// ErrDone means that there was nothing to do.
var ErrDone = errors.New("done already")

// Fault is called at each moment at which a test may kill the process.
var Fault = func(string) {}

const tempPrefix = ".skills-mcp-"

// Do does one step, or nothing. The error is a [Conflict], a [refusal] or
// [ErrDone].
func (t *Transaction) Do(s Step) error {
	if t.broken != nil {
		return refusal("the journal cannot be written: there may be no space left for the state of skills-mcp")
	}
	if t.Ctx.Err() != nil {
		return refusal("it was canceled before this")
	}
	w, err := t.open(&s)
	if err != nil {
		return err
	}
	defer w.close()
	if err := t.begin(w); err != nil {
		return err
	}
	Fault("begun")
	if err := w.perform(); err != nil {
		return t.skip(&s, err)
	}
	Fault("performed")
	t.finish(w)
	return nil
}

// begin keeps what is about to go, and writes to the journal what is about to
// be done.
func (t *Transaction) begin(w *work) error {
	s := w.step
	s.N = t.Next
	if s.Op == OpPut || s.Op == OpRemove {
		s.Temp = tempPrefix + NewName()
	}
	if t.Kept != "" && w.now.Regular() && s.Op != OpChmod {
		s.Keep = strconv.Itoa(s.N)
		if err := w.keep(filepath.Join(t.Kept, s.Keep)); err != nil {
			return err
		}
	}
	Fault("kept")
	if s.Old != nil {
		is := *w.now
		is.Digest = s.Old.Digest
		s.Old = &is
	}
	t.Next++
	if err := t.Journal.Sync(Line{Step: s}); err != nil {
		t.broken = err
		return refusal("the journal cannot be written: " + files.Reason(err))
	}
	return nil
}

// skip writes that a step was not done.
func (t *Transaction) skip(s *Step, why error) error {
	if err := t.Journal.write(Line{Skip: &skip{s.N}}); err != nil {
		t.broken = err
	}
	return why
}

// finish writes what the path is now. Where that cannot be written, recovery
// sees it.
func (t *Transaction) finish(w *work) {
	d := &Done{N: w.step.N}
	if w.step.New != nil {
		now, err := files.StateAt(w.dirfd(), w.base)
		if err != nil { // the user was quick
			now = w.step.New
		}
		now.Digest = w.step.New.Digest
		d.New = now
	}
	if err := t.Journal.write(Line{Done: d}); err != nil {
		t.broken = err
	}
	Fault("done")
}

// work is a step with what it needs open.
type work struct {
	*Transaction
	step *Step
	dir  *os.File     // of the path
	base string       // its name there
	now  *files.State // what is there; nil is nothing
	old  *os.File     // that, if it is a regular file
}

// open looks whether the path is as it is to be.
func (t *Transaction) open(s *Step) (*work, error) {
	dir, base, err := t.Target.Parent(s.Path)
	if files.Missing(err) && s.New == nil {
		return nil, ErrDone
	}
	if err != nil {
		return nil, refuse(err)
	}
	w := &work{Transaction: t, step: s, dir: dir, base: base}
	if err := w.look(); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func refuse(err error) error {
	if files.Missing(err) {
		return Conflict(files.Reason(err))
	}
	return refusal(files.Reason(err))
}

func (w *work) dirfd() int { return int(w.dir.Fd()) }

func (w *work) close() {
	w.dir.Close()
	if w.old != nil {
		w.old.Close()
	}
}

func (w *work) look() error {
	now, err := w.Target.Stat(w.step.Path)
	if err != nil && !files.Missing(err) {
		return refuse(err)
	}
	if err == nil {
		w.now = now
	}
	if w.Target.Is(w.step.Path, w.now, w.step.New) {
		return ErrDone
	}
	if !w.Target.Is(w.step.Path, w.now, w.step.Old) {
		return Conflict(Differs(w.now, w.step.Old))
	}
	if err := w.mayWrite(); err != nil {
		return err
	}
	if w.now.Regular() && w.step.Op != OpChmod {
		return w.openOld()
	}
	return nil
}

// mayWrite holds root to what the user said of a directory: the kernel does not.
func (w *work) mayWrite() error {
	dir, err := files.StateOf(w.dirfd())
	if err == nil && dir.Mode&0o222 == 0 && w.step.Op != OpChmod {
		return refusal("its directory is read-only")
	}
	return err
}

func (w *work) openOld() error {
	fd, err := unix.Openat(w.dirfd(), w.base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if files.IsErrno(err, unix.EACCES) {
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
	now, err := files.StateOf(int(w.old.Fd()))
	if err != nil {
		return refuse(err)
	}
	if !now.SameFile(w.now) {
		return Conflict(raced)
	}
	return nil
}

// keep copies the file that is about to go. A link would not do, since programs
// can write to files in place.
func (w *work) keep(name string) error {
	kept, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return refusal("a copy of it cannot be kept: " + files.Reason(err))
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
		return refusal("a copy of it cannot be kept: " + files.Reason(err))
	}
	if w.step.Old.Digest == "" {
		hash := sha256.New()
		if _, err := io.Copy(hash, io.NewSectionReader(w.old, 0, w.now.Size)); err != nil {
			return refuse(err)
		}
		was := *w.step.Old
		was.Digest = files.DigestPrefix + hex.EncodeToString(hash.Sum(nil))
		w.step.Old = &was
	}
	return w.checkOld()
}

// perform does the step, or leaves all as it was.
func (w *work) perform() error {
	switch w.step.Op {
	case OpPut:
		return w.put()
	case OpRemove:
		return w.remove()
	case OpRmdir:
		return w.rmdir()
	default:
		return w.chmod()
	}
}

const notEmpty = "the directory holds what stays: what programs did not see, or what was not removed"

func (w *work) rmdir() error {
	err := unix.Unlinkat(w.dirfd(), w.base, unix.AT_REMOVEDIR)
	if files.IsErrno(err, unix.ENOTEMPTY, unix.EEXIST) {
		return Conflict(notEmpty)
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
	now := files.FromStat(&st)
	switch {
	case now.Inode != w.now.Inode || now.Mode != w.now.Mode:
		return Conflict(raced)
	case now.Regular() && now.Links > 1:
		return refusal("it has other names, hard links, whose permissions would change too")
	}
	if err := files.ChmodFD(fd, st.Mode&0o7000|uint32(w.step.New.Mode.Perm())); err != nil {
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
		Fault("made")
		if err = w.Journal.write(Line{Temp: &temp{w.step.N, inode}}); err != nil {
			w.broken, err = err, refusal("the journal cannot be written: "+files.Reason(err))
		}
	}
	if err == nil {
		Fault("noted")
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
	is, err := files.StateAt(dirfd, name)
	if err != nil || inode != 0 && is.Inode != inode {
		return
	}
	_ = unlink(dirfd, name, is)
}

// unlink removes a file, or a directory that is empty.
func unlink(dirfd int, name string, is *files.State) error {
	if is.Dir() {
		return unix.Unlinkat(dirfd, name, unix.AT_REMOVEDIR)
	}
	return unix.Unlinkat(dirfd, name, 0)
}

// make makes what is new under the temporary name.
func (w *work) make() (inode uint64, err error) {
	switch s := w.step.New; {
	case s.Dir():
		err = w.makeDir()
	case s.Symlink():
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
	made, err := files.StateAt(w.dirfd(), w.step.Temp)
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
	Fault("created")
	source, err := w.Source(w.step)
	if err != nil {
		return err
	}
	defer source.Close()
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(made, hash), io.LimitReader(source, w.step.New.Size+1))
	if err != nil {
		return err
	}
	if n != w.step.New.Size || files.DigestPrefix+hex.EncodeToString(hash.Sum(nil)) != w.step.New.Digest {
		return refusal("what is held changed since it was looked at")
	}
	Fault("copied")
	w.giveOwner(made)
	if w.Original {
		copyAttributes(source, made)
	} else if w.old != nil {
		copyAttributes(w.old, made)
	}
	if err := made.Chmod(w.step.New.Mode.Perm()); err != nil {
		return err
	}
	if w.Original {
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
	like, err := files.StateOf(w.dirfd())
	if w.now != nil {
		like = w.now
	}
	if w.Original {
		like = w.step.New
	}
	is, errMade := files.StateOf(int(made.Fd()))
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
		if err := renameNew(w.dirfd(), w.step.Temp, w.base, w.step.New.Dir()); err != nil {
			if files.IsErrno(err, unix.EEXIST, unix.ENOTEMPTY, unix.ENOTDIR, unix.EISDIR) {
				return Conflict(Differs(w.step.New, nil))
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
	Fault("checked")
	err = unix.Renameat2(w.dirfd(), w.step.Temp, w.dirfd(), w.base, unix.RENAME_EXCHANGE)
	if files.IsErrno(err, unix.EINVAL, unix.ENOSYS) { // the file system cannot: its last look was a moment ago
		err = unix.Renameat(w.dirfd(), w.step.Temp, w.dirfd(), w.base)
		if err == nil {
			return w.syncDir()
		}
	}
	if err != nil {
		return refuse(err)
	}
	Fault("exchanged")
	if !w.cameOut() || held.broken() {
		return w.swapBack(inode)
	}
	if err := unlink(w.dirfd(), w.step.Temp, w.now); err != nil {
		back := w.swapBack(inode)
		if files.IsErrno(err, unix.ENOTEMPTY, unix.EEXIST) {
			return Conflict(notEmpty)
		}
		return back
	}
	Fault("unlinked")
	return w.syncDir()
}

// checkName makes sure that the name is still that of what was looked at.
func (w *work) checkName() error {
	now, err := files.StateAt(w.dirfd(), w.base)
	if err != nil || !now.SameFile(w.now) {
		return Conflict(raced)
	}
	return nil
}

// cameOut reports whether what has the temporary name now is what was looked
// at. To change its name has changed the time of its status.
func (w *work) cameOut() bool {
	out, err := files.StateAt(w.dirfd(), w.step.Temp)
	if err != nil {
		return false
	}
	out.Changed = w.now.Changed
	return out.SameFile(w.now) && out.Link == w.now.Link
}

// swapBack changes the names back, since what came out was not what was looked
// at. It may be replaced meanwhile, again and again.
func (w *work) swapBack(inode uint64) error {
	for range 100 {
		Fault("swapping")
		err := unix.Renameat2(w.dirfd(), w.step.Temp, w.dirfd(), w.base, unix.RENAME_EXCHANGE)
		if files.IsErrno(err, unix.ENOENT) { // it was removed: what came out is what there is
			err = renameNew(w.dirfd(), w.step.Temp, w.base, false)
			if err == nil {
				return Conflict(raced)
			}
		}
		if err != nil {
			continue
		}
		if out, err := files.StateAt(w.dirfd(), w.step.Temp); err == nil && out.Inode == inode {
			return Conflict(raced) // put removes it
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
	return Conflict(fmt.Sprintf("it kept changing; one state of it is saved beside it as %q", saved))
}

func rescue(dirfd int, temp, base string) (saved string, err error) {
	saved = base + ".saved-" + NewName()
	if err := renameNew(dirfd, temp, saved, false); files.IsErrno(err, unix.ENAMETOOLONG) {
		saved = "saved-" + NewName()
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
	Fault("checked")
	if err := renameNew(w.dirfd(), w.base, w.step.Temp, false); err != nil {
		return refuse(err)
	}
	Fault("moved")
	if !w.cameOut() || held.broken() {
		if err := renameNew(w.dirfd(), w.step.Temp, w.base, false); err != nil {
			return w.rescue()
		}
		return Conflict(raced)
	}
	if err := unix.Unlinkat(w.dirfd(), w.step.Temp, 0); err != nil {
		return errors.Join(renameNew(w.dirfd(), w.step.Temp, w.base, false), refuse(err))
	}
	Fault("unlinked")
	return w.syncDir()
}

// renameNew gives a file a name that is free, or fails with EEXIST. A directory
// that the file system can only rename in the old way takes the place of an
// empty one.
func renameNew(dirfd int, from, to string, dir bool) error {
	err := unix.Renameat2(dirfd, from, dirfd, to, unix.RENAME_NOREPLACE)
	if !files.IsErrno(err, unix.EINVAL, unix.ENOSYS) {
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

// Differs says what the user did since.
func Differs(now, base *files.State) string {
	switch {
	case now == nil:
		return "it was removed since programs saw it"
	case base == nil:
		return "it is there now, and was not when programs made it"
	}
	return "it was changed since programs saw it"
}

// NewName returns the name of something new: 16 hex digits.
func NewName() string {
	random := make([]byte, 8)
	rand.Read(random) // never fails
	return hex.EncodeToString(random)
}
