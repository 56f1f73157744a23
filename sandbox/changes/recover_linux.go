package changes

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// recover finishes or takes back the step at which a process was killed, of each
// journal. What it had not begun stays held.
func (s *Store) recover() {
	names, err := s.appliedNames()
	if err != nil {
		return // Open has looked at the directory
	}
	for _, name := range names {
		if err := s.recoverApplied(name); err != nil {
			s.log.Warn("an apply that was interrupted cannot be completed now; it is tried again at the next start", "apply", applyPrefix+name, "error", err)
		}
	}
}

func (s *Store) recoverApplied(name string) error {
	dir := filepath.Join(s.applied(), name)
	alone, err := tryLock(dir, stateLock, unix.LOCK_EX)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, fs.ErrNotExist) {
		return nil // it goes on, or is gone
	}
	if err != nil {
		return err
	}
	defer alone.release()
	journals, err := filepath.Glob(filepath.Join(dir, "*"+journalSuffix))
	if err != nil {
		return err
	}
	for _, file := range journals {
		if err := s.recoverJournal(file); err != nil {
			return err
		}
	}
	if l, _, err := s.readApplied(name); err == nil && len(l.done) > 0 {
		return nil
	}
	return s.forget(name) // nothing was done
}

func (s *Store) recoverJournal(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	if whole == 0 {
		return os.Remove(file) // nothing was begun
	}
	l, err := parseJournal(data[:whole])
	if err != nil || l.end != nil {
		return err
	}
	target, err := openTarget(l.begin.Target.Path, l.begin.Root)
	if err != nil {
		return err
	}
	defer target.close()
	opened, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer opened.Close()
	if err := opened.Truncate(int64(whole)); err != nil {
		return err
	}
	journal := &journal{opened}
	for _, step := range l.steps {
		if l.done[step.N] != nil || l.skip[step.N] {
			continue
		}
		s.log.Info("completing what was interrupted", "path", step.Path, "step", string(step.Op))
		if err := recoverStep(target, step, l.temps[step.N], journal); err != nil {
			return err
		}
	}
	return journal.sync(line{End: &end{Interrupted: true, When: s.now()}})
}

// interrupted is a step of which it is not known how far it came.
type interrupted struct {
	target *tree
	step   *step
	dirfd  int
	base   string
	inode  uint64 // of what was made; zero if that was not noted
	now    *state // of the path
	temp   *state // of the temporary name
}

func recoverStep(target *tree, s *step, inode uint64, j *journal) error {
	dir, base, err := target.parent(s.Path)
	if missing(err) {
		return j.write(line{Skip: &skip{s.N}}) // and with it what was in it
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	i := &interrupted{target: target, step: s, dirfd: int(dir.Fd()), base: base, inode: inode}
	i.now, _ = stateAt(i.dirfd, base) // none where it cannot be read
	if s.Temp != "" {
		i.temp, _ = stateAt(i.dirfd, s.Temp)
	}
	complete, err := i.settle()
	_ = dir.Sync() // not every file system can
	switch {
	case err != nil:
		return err
	case !complete:
		return j.write(line{Skip: &skip{s.N}})
	case s.New == nil:
		return j.write(line{Done: &done{N: s.N}})
	}
	is := *s.New
	if i.now, err = stateAt(i.dirfd, base); err == nil && i.is(base, i.now, s.New) {
		is = *i.now
		is.Digest = s.New.Digest
	}
	return j.write(line{Done: &done{N: s.N, New: &is}})
}

// is is [tree.is] of a name in the path's directory. What was renamed has
// another time of status.
func (i *interrupted) is(name string, now, want *state) bool {
	if now == nil || want == nil {
		return now == nil && want == nil
	}
	same := *now
	same.Changed = want.Changed
	return i.target.is(path.Join(path.Dir(i.step.Path), name), &same, want) ||
		i.target.is(path.Join(path.Dir(i.step.Path), name), now, want)
}

// settle leaves the path as it was or as it was to be, and reports which.
func (i *interrupted) settle() (complete bool, err error) {
	switch i.step.Op {
	case opPut:
		return i.put()
	case opRemove:
		return i.remove()
	case opRmdir:
		return i.now == nil, nil
	default:
		return i.now != nil && i.now.Mode == i.step.New.Mode, nil
	}
}

func (i *interrupted) put() (complete bool, err error) {
	placed := i.now != nil && i.inode != 0 && i.now.Inode == i.inode || i.is(i.base, i.now, i.step.New)
	if i.temp == nil {
		return placed, nil
	}
	if !i.cameOut(placed) {
		removeTemp(i.dirfd, i.step.Temp, 0)
		return placed, nil
	}
	if i.is(i.step.Temp, i.temp, i.step.Old) {
		if err := unlink(i.dirfd, i.step.Temp, i.temp); !isErrno(err, unix.ENOTEMPTY, unix.EEXIST) {
			return true, err
		}
	}
	return false, i.swapBack()
}

// cameOut reports whether what has the temporary name is what the user had.
func (i *interrupted) cameOut(placed bool) bool {
	switch {
	case i.step.Old == nil:
		return false
	case i.inode != 0:
		return i.temp.Inode != i.inode
	}
	return placed || i.is(i.step.Temp, i.temp, i.step.Old)
}

// swapBack gives the user's file its name again.
func (i *interrupted) swapBack() error {
	err := unix.Renameat2(i.dirfd, i.step.Temp, i.dirfd, i.base, unix.RENAME_EXCHANGE)
	if isErrno(err, unix.ENOENT) {
		return renameNew(i.dirfd, i.step.Temp, i.base, false)
	}
	if err != nil {
		return err
	}
	out, err := stateAt(i.dirfd, i.step.Temp)
	if err == nil && (out.Inode == i.inode || i.inode == 0 && i.is(i.step.Temp, out, i.step.New)) {
		return unlink(i.dirfd, i.step.Temp, out)
	}
	_, err = rescue(i.dirfd, i.step.Temp, i.base)
	return err
}

func (i *interrupted) remove() (complete bool, err error) {
	if i.temp == nil {
		return i.now == nil, nil
	}
	if i.is(i.step.Temp, i.temp, i.step.Old) {
		return true, unix.Unlinkat(i.dirfd, i.step.Temp, 0)
	}
	if err := renameNew(i.dirfd, i.step.Temp, i.base, false); !isErrno(err, unix.EEXIST) {
		return false, err
	}
	_, err = rescue(i.dirfd, i.step.Temp, i.base)
	return false, err
}

const (
	applyPrefix   = "ap-"
	journalSuffix = ".journal"
	applyJournal  = "apply" + journalSuffix
	undoneFile    = "undone.json"
	keptDir       = "kept"
)

// appliedNames lists what was applied, and what is being.
func (s *Store) appliedNames() ([]string, error) {
	entries, err := os.ReadDir(s.applied())
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if validName(e.Name()) {
			names = append(names, e.Name())
		} else if strings.HasPrefix(e.Name(), newPrefix) {
			s.dropApplied(e.Name())
		}
	}
	return names, nil
}

// dropApplied removes what one who was killed did not remove wholly.
func (s *Store) dropApplied(name string) { s.drop(filepath.Join(s.applied(), name)) }
