package layers

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// stagedPrefix begins the names of what is in the work directory until it is
// whole, or until it is removed.
const stagedPrefix = ".staged-"

func upperOf(share sandbox.Share) string { return filepath.Join(share.Changes, sandbox.UpperDir) }

// upper is the upper directory of a share with what it takes to change it.
type upper struct {
	top, work dir
	// owner and group are those of the share, where the server is root: what
	// programs make is the user's own. Else they are 0.
	owner, group int
}

// makeReady finds out whether changes can be stored in a share's directories for
// them, and tidies up there.
func makeReady(share sandbox.Share) error {
	u, err := openUpper(share)
	if err == nil {
		err = errors.Join(u.tidy(), u.try())
		u.close()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoChanges, err)
	}
	return nil
}

func openUpper(share sandbox.Share) (u *upper, err error) {
	u = &upper{top: noDir, work: noDir}
	if u.top, _, err = dir(unix.AT_FDCWD).openUnlocked(upperOf(share)); err == nil {
		u.work, err = openDir(filepath.Join(share.Changes, sandbox.WorkDir))
	}
	if err == nil && os.Geteuid() == 0 {
		var stat unix.Stat_t
		err = unix.Lstat(share.Layers[len(share.Layers)-1], &stat)
		u.owner, u.group = int(stat.Uid), int(stat.Gid)
	}
	if err != nil {
		u.close()
		return nil, err
	}
	return u, nil
}

func (u *upper) close() {
	u.top.close()
	u.work.close()
}

// tidy removes what a server that was killed has left in the work directory.
func (u *upper) tidy() (err error) {
	names, err := u.work.names(maxStored)
	for _, name := range names {
		if strings.HasPrefix(name, stagedPrefix) {
			err = errors.Join(err, u.work.remove(name))
		}
	}
	return err
}

// try makes one of each that an upper directory takes.
func (u *upper) try() error {
	d, made, err := u.stageDir(true)
	if err != nil {
		return err
	}
	defer d.close()
	whiteout, err := u.stageWhiteout()
	if err == nil {
		err = unix.Renameat2(int(u.work), made, int(u.work), whiteout, unix.RENAME_EXCHANGE)
	}
	return errors.Join(err, u.work.remove(made), u.work.remove(whiteout))
}

func stagedName() string { return stagedPrefix + rand.Text() }

// stageDir makes a directory that has no place yet.
func (u *upper) stageDir(opaque bool) (d dir, name string, err error) {
	name = stagedName()
	if err := unix.Mkdirat(int(u.work), name, 0o700); err != nil {
		return noDir, "", fmt.Errorf("make a directory: %w", err)
	}
	d, err = u.work.open(name)
	if err == nil && opaque {
		err = setOpaque(d)
	}
	if err != nil {
		d.close()
		return noDir, "", errors.Join(err, u.work.remove(name))
	}
	return d, name, nil
}

func setOpaque(d dir) error {
	if err := unix.Fsetxattr(int(d), opaqueName, []byte(opaqueValue), 0); err != nil {
		return fmt.Errorf("set the attribute %s: %w", opaqueName, err)
	}
	return nil
}

// stageWhiteout makes a whiteout that has no place yet.
func (u *upper) stageWhiteout() (name string, err error) {
	name = stagedName()
	return name, makeWhiteout(u.work, name)
}

func makeWhiteout(d dir, name string) error {
	if err := unix.Mknodat(int(d), name, unix.S_IFCHR, 0); err != nil {
		return fmt.Errorf("make a whiteout: %w", err)
	}
	return nil
}

// place gives what is staged its name, whatever had it before.
func (u *upper) place(staged string, in dir, name string) error {
	err := unix.Renameat(int(u.work), staged, int(in), name)
	switch err {
	case unix.EISDIR, unix.ENOTDIR, unix.ENOTEMPTY, unix.EEXIST:
		err = unix.Renameat2(int(u.work), staged, int(in), name, unix.RENAME_EXCHANGE)
	}
	if err != nil {
		return errors.Join(err, u.work.remove(staged))
	}
	return u.work.remove(staged)
}

// whiteout puts a whiteout in the place of a name.
func (u *upper) whiteout(in dir, name string) error {
	stat, err := in.stat(name)
	if err == unix.ENOENT {
		return makeWhiteout(in, name)
	}
	if err != nil || isWhiteout(&stat) {
		return err
	}
	staged, err := u.stageWhiteout()
	if err != nil {
		return err
	}
	return u.place(staged, in, name)
}

// discard removes a name, with all below it at once.
func (u *upper) discard(in dir, name string) error {
	stat, err := in.stat(name)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		return unix.Unlinkat(int(in), name, 0)
	}
	staged := stagedName()
	if err := unix.Renameat(int(in), name, int(u.work), staged); err != nil {
		return err
	}
	return u.work.remove(staged)
}
