package steps

import (
	"path"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

// interrupted is a step of which it is not known how far it came.
type interrupted struct {
	target *files.Tree
	step   *Step
	dirfd  int
	base   string
	inode  uint64       // of what was made; zero if that was not noted
	now    *files.State // of the path
	temp   *files.State // of the temporary name
}

// RecoverStep brings a step to an end, or takes it back, that was begun when the
// process ended, and notes which in j. Inode is that of what was made, or zero.
func RecoverStep(target *files.Tree, s *Step, inode uint64, j *Journal) error {
	dir, base, err := target.Parent(s.Path)
	if files.Missing(err) {
		return j.write(Line{Skip: &skip{s.N}}) // and with it what was in it
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	i := &interrupted{target: target, step: s, dirfd: int(dir.Fd()), base: base, inode: inode}
	i.now, _ = files.StateAt(i.dirfd, base) // none where it cannot be read
	if s.Temp != "" {
		i.temp, _ = files.StateAt(i.dirfd, s.Temp)
	}
	complete, err := i.settle()
	_ = dir.Sync() // not every file system can
	switch {
	case err != nil:
		return err
	case !complete:
		return j.write(Line{Skip: &skip{s.N}})
	case s.New == nil:
		return j.write(Line{Done: &Done{N: s.N}})
	}
	is := *s.New
	if i.now, err = files.StateAt(i.dirfd, base); err == nil && i.is(base, i.now, s.New) {
		is = *i.now
		is.Digest = s.New.Digest
	}
	return j.write(Line{Done: &Done{N: s.N, New: &is}})
}

// is is [tree.is] of a name in the path's directory. What was renamed has
// another time of status.
func (i *interrupted) is(name string, now, want *files.State) bool {
	if now == nil || want == nil {
		return now == nil && want == nil
	}
	same := *now
	same.Changed = want.Changed
	return i.target.Is(path.Join(path.Dir(i.step.Path), name), &same, want) ||
		i.target.Is(path.Join(path.Dir(i.step.Path), name), now, want)
}

// settle leaves the path as it was or as it was to be, and reports which.
func (i *interrupted) settle() (complete bool, err error) {
	switch i.step.Op {
	case OpPut:
		return i.put()
	case OpRemove:
		return i.remove()
	case OpRmdir:
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
		if err := unlink(i.dirfd, i.step.Temp, i.temp); !files.IsErrno(err, unix.ENOTEMPTY, unix.EEXIST) {
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
	if files.IsErrno(err, unix.ENOENT) {
		return renameNew(i.dirfd, i.step.Temp, i.base, false)
	}
	if err != nil {
		return err
	}
	out, err := files.StateAt(i.dirfd, i.step.Temp)
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
	if err := renameNew(i.dirfd, i.step.Temp, i.base, false); !files.IsErrno(err, unix.EEXIST) {
		return false, err
	}
	_, err = rescue(i.dirfd, i.step.Temp, i.base)
	return false, err
}
