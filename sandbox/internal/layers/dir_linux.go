package layers

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
)

// dir is an open directory. What is in it is reached by one name at a time, so
// that no link on the way is ever followed.
type dir int

// noDir is none.
const noDir dir = -1

// retry calls try again for as long as signals interrupt it.
func retry(try func() error) error {
	for {
		if err := try(); err != unix.EINTR {
			return err
		}
	}
}

// openDir opens a directory by its path, which is the server's own.
func openDir(path string) (dir, error) {
	d, err := dir(unix.AT_FDCWD).open(path)
	if err != nil {
		return noDir, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return d, nil
}

// openReal opens a directory by its path, in which no name may be a link.
func openReal(path string) (dir, error) {
	var fd int
	err := retry(func() (err error) {
		fd, err = unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
			Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC,
			Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
		})
		return err
	})
	if err != nil {
		return noDir, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return dir(fd), nil
}

func (d dir) close() {
	if d != noDir {
		unix.Close(int(d))
	}
}

// open opens a directory that must not be a link.
func (d dir) open(name string) (dir, error) {
	fd, err := d.openat(name, unix.O_RDONLY|unix.O_DIRECTORY)
	return dir(fd), err
}

func (d dir) openat(name string, flags int) (fd int, err error) {
	err = retry(func() (err error) {
		fd, err = unix.Openat(int(d), name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0o600)
		return err
	})
	return fd, err
}

// errNotRegular means that something else has the name.
var errNotRegular = errors.New("not a regular file")

// file opens a regular file to be read.
func (d dir) file(name string) (*os.File, unix.Stat_t, error) {
	fd, err := d.openat(name, unix.O_RDONLY)
	if err != nil {
		return nil, unix.Stat_t{}, err
	}
	file := os.NewFile(uintptr(fd), name)
	stat, err := statOf(file)
	if err == nil && stat.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errNotRegular
	}
	if err != nil {
		file.Close()
		return nil, stat, err
	}
	return file, stat, nil
}

// makeFile makes a regular file of what fill writes to it, with an owner,
// permissions and a time. User 0 is the server's own, which it has.
func (d dir) makeFile(name string, user, group int, like stamp, fill func(*os.File) error) (stat unix.Stat_t, err error) {
	if like.permissions()&0o111 != 0 {
		// A process that is being started at this moment would have the file open to
		// be written until it executes its program, and this one could not be executed.
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
	}
	fd, err := d.openat(name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return stat, err
	}
	file := os.NewFile(uintptr(fd), name)
	defer func() { err = cmp.Or(err, file.Close()) }()
	if err := fill(file); err != nil {
		return stat, err
	}
	if user != 0 || group != 0 {
		if err := unix.Fchown(fd, user, group); err != nil {
			return stat, err
		}
	}
	if err := unix.Fchmod(fd, like.permissions()); err != nil {
		return stat, err
	}
	if err := unix.UtimesNanoAt(unix.AT_FDCWD, dir(fd).path(""), like.times(), 0); err != nil {
		return stat, err
	}
	return statOf(file)
}

// makeLink makes a symbolic link in the same way.
func (d dir) makeLink(name, target string, user, group int, like stamp) error {
	err := unix.Symlinkat(target, int(d), name)
	if err == nil && (user != 0 || group != 0) {
		err = unix.Fchownat(int(d), name, user, group, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err == nil {
		err = unix.UtimesNanoAt(int(d), name, like.times(), unix.AT_SYMLINK_NOFOLLOW)
	}
	return err
}

func statOf(file *os.File) (stat unix.Stat_t, err error) {
	err = retry(func() error { return unix.Fstat(int(file.Fd()), &stat) })
	return stat, err
}

func (d dir) stat(name string) (stat unix.Stat_t, err error) {
	err = retry(func() error { return unix.Fstatat(int(d), name, &stat, unix.AT_SYMLINK_NOFOLLOW) })
	return stat, err
}

// self is the stat of the directory.
func (d dir) self() (stat unix.Stat_t, err error) {
	err = retry(func() error { return unix.Fstat(int(d), &stat) })
	return stat, err
}

// born returns when the directory was made, in nanoseconds since 1970, or 0 where
// the file system does not say.
func (d dir) born() int64 {
	var stat unix.Statx_t
	err := retry(func() error { return unix.Statx(int(d), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &stat) })
	if err != nil || stat.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return stat.Btime.Sec*1e9 + int64(stat.Btime.Nsec)
}

// names reads the names in a directory that was just opened. There may be more
// where it returns more than limit.
func (d dir) names(limit int) (names []string, err error) {
	buffer := make([]byte, 8<<10)
	for len(names) <= limit {
		var n int
		err := retry(func() (err error) { n, err = unix.ReadDirent(int(d), buffer); return err })
		if err != nil || n <= 0 {
			return names, err
		}
		_, _, names = unix.ParseDirent(buffer[:n], -1, names)
	}
	return names, nil
}

// link returns where a symbolic link leads to.
func (d dir) link(name string) (string, error) {
	buffer := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(d), name, buffer)
	return string(buffer[:max(n, 0)]), err
}

// path names an entry for calls that take paths. What is above it is not
// resolved by name.
func (d dir) path(name string) string {
	return filepath.Join("/proc/self/fd", strconv.Itoa(int(d)), name)
}

// unlock lets the owner of an entry, which is no link, use it.
func (d dir) unlock(name string, mode uint32) error {
	fd, err := d.openat(name, unix.O_PATH)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Chmod(dir(fd).path(""), mode&permissionBits|0o700)
}

// openUnlocked opens a directory, also where its mode keeps its owner out.
// It reports whether that was so.
func (d dir) openUnlocked(name string) (opened dir, unlocked bool, err error) {
	stat, err := d.stat(name)
	if err == nil && stat.Mode&unix.S_IFMT == unix.S_IFDIR && stat.Mode&0o700 != 0o700 {
		unlocked = d.unlock(name, stat.Mode) == nil
	}
	opened, err = d.open(name)
	return opened, unlocked, err
}

// remove removes an entry with all that is below it.
func (d dir) remove(name string) error {
	err := unix.Unlinkat(int(d), name, 0)
	if err == nil || err == unix.ENOENT {
		return nil
	}
	if stat, statErr := d.stat(name); statErr != nil || stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		return err
	}
	return tempdir.Remove(d.path(name))
}

// opaque reports whether a directory of a layer hides what is below it.
func (d dir) opaque() bool {
	value := make([]byte, 2)
	n, err := unix.Fgetxattr(int(d), opaqueName, value)
	return err == nil && string(value[:n]) == opaqueValue
}

// The extended attribute of opaque directories.
const (
	opaqueName  = "user.overlay.opaque"
	opaqueValue = "y"
)

func isWhiteout(stat *unix.Stat_t) bool {
	return stat.Mode&unix.S_IFMT == unix.S_IFCHR && stat.Rdev == 0
}

// isGone reports whether a name is not what it was when it was looked at.
func isGone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) || errors.Is(err, errNotRegular)
}

// isDenied reports whether the server's user may not use something.
func isDenied(err error) bool {
	return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)
}
