package sandboxtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// vandalName is the name by which a test binary knows that it is to assault a
// project, instead of to test.
const vandalName = "share-vandal"

func init() {
	if len(os.Args) == 2 && filepath.Base(os.Args[0]) == vandalName {
		if err := os.Chdir(os.Getenv("PROJECT")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			syscall.Exit(1)
		}
		for _, assault := range assaultsNamed(os.Args[1]) {
			fmt.Println("made", assault.name, assault.make())
		}
		syscall.Exit(0)
	}
}

// assault is an attempt to change something in the working directory, which is a
// sample with a link.
type assault struct {
	name string
	// rare says that it takes what not every machine has.
	rare bool
	make func() error
}

var assaults = []assault{
	{name: "write", make: func() error { return os.WriteFile("README.md", []byte("x"), 0o644) }},
	{name: "write by link", make: func() error { return os.WriteFile("link", []byte("x"), 0o644) }},
	{name: "truncate", make: func() error { return os.Truncate("README.md", 0) }},
	{name: "ftruncate", make: withFile(func(fd int) error { return unix.Ftruncate(fd, 1) })},
	{name: "pwrite", make: withFile(func(fd int) error { _, err := unix.Pwrite(fd, []byte("x"), 3); return err })},
	{name: "allocate", rare: true, make: withFile(func(fd int) error { return unix.Fallocate(fd, 0, 0, 1<<16) })},
	{name: "punch a hole", rare: true, make: withFile(func(fd int) error {
		return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, 4)
	})},
	{name: "map shared", make: withFile(mapShared)},
	{name: "map shared, opened before", make: mapBehind},
	{name: "copy range", make: withFile(func(fd int) error { return copyTo(fd, unix.SYS_COPY_FILE_RANGE) })},
	{name: "sendfile", make: withFile(func(fd int) error { return copyTo(fd, unix.SYS_SENDFILE) })},
	{name: "clone", rare: true, make: withFile(func(fd int) error {
		return withOpen("src/main.c", unix.O_RDONLY, func(from int) error { return unix.IoctlFileClone(fd, from) })
	})},
	{name: "write as opened again", make: func() error { return reopened(unix.O_RDONLY) }},
	{name: "write as opened by path", make: func() error { return reopened(unix.O_PATH) }},
	{name: "create", make: func() error { return os.WriteFile("new", nil, 0o644) }},
	{name: "create unnamed", rare: true, make: linkUnnamed},
	{name: "make a directory", make: func() error { return os.Mkdir("new", 0o755) }},
	{name: "make a FIFO", make: func() error { return unix.Mkfifo("new", 0o644) }},
	{name: "make a whiteout", make: func() error { return unix.Mknod("new", unix.S_IFCHR, 0) }},
	{name: "bind a socket", make: bindSocket},
	{name: "symbolic link", make: func() error { return os.Symlink("/", "new") }},
	{name: "hard link", make: func() error { return os.Link("README.md", "new") }},
	{name: "hard link elsewhere", make: func() error { return os.Link("README.md", os.Getenv("WORKSPACE")+"/new") }},
	{name: "hard link of a descriptor", make: func() error {
		return withOpen("README.md", unix.O_RDONLY, func(fd int) error {
			return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, "new", unix.AT_SYMLINK_FOLLOW)
		})
	}},
	{name: "rename", make: func() error { return os.Rename("README.md", "docs/new") }},
	{name: "rename over", make: func() error { return os.Rename("docs/a.txt", "README.md") }},
	{name: "rename a directory", make: func() error { return os.Rename("empty", "new") }},
	{name: "rename away", make: func() error { return os.Rename("README.md", os.Getenv("WORKSPACE")+"/stolen") }},
	{name: "exchange", rare: true, make: renameat2("README.md", "docs/a.txt", unix.RENAME_EXCHANGE)},
	{name: "rename to a whiteout", rare: true, make: renameat2("README.md", "new", unix.RENAME_WHITEOUT)},
	{name: "remove", make: func() error { return os.Remove("README.md") }},
	{name: "remove a link", make: func() error { return os.Remove("link") }},
	{name: "remove a directory", make: func() error { return os.Remove("empty") }},
	{name: "remove all", make: func() error { return os.RemoveAll("src") }},
	{name: "mode", make: func() error { return os.Chmod("README.md", 0o777) }},
	{name: "mode of a descriptor", make: func() error {
		return withOpen("README.md", unix.O_RDONLY, func(fd int) error { return unix.Fchmod(fd, 0o600) })
	}},
	{name: "mode of the project", make: func() error { return os.Chmod(".", 0o777) }},
	{name: "set user id", make: func() error { return unix.Chmod("README.md", 0o4755) }},
	{name: "owner", make: func() error { return os.Chown("README.md", os.Getuid(), os.Getgid()) }},
	{name: "times", make: func() error { return os.Chtimes("README.md", time.Unix(1, 0), time.Unix(1, 0)) }},
	{name: "times of a link", make: func() error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, "link", make([]unix.Timespec, 2), unix.AT_SYMLINK_NOFOLLOW)
	}},
	{name: "times of the project", make: func() error { return os.Chtimes(".", time.Unix(1, 0), time.Unix(1, 0)) }},
	{name: "attribute", rare: true, make: func() error { return unix.Setxattr("README.md", "user.x", []byte("x"), 0) }},
	{name: "attribute of the overlay", rare: true, make: func() error { return unix.Setxattr("src", "user.overlay.opaque", []byte("y"), 0) }},
	{name: "access list", rare: true, make: func() error { return unix.Setxattr("README.md", "system.posix_acl_access", accessList, 0) }},
	{name: "flags", rare: true, make: func() error {
		const noDump = 0x40
		return withOpen("README.md", unix.O_RDONLY, func(fd int) error { return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, noDump) })
	}},
	{name: "sync", make: withFile(func(fd int) error { _, err := unix.Write(fd, []byte("x")); return errors.Join(err, unix.Fsync(fd)) })},
	{name: "write what is removed", make: withFile(func(fd int) error {
		_, err := unix.Write(fd, []byte("x"))
		return errors.Join(os.Remove("README.md"), err)
	})},
}

// accessList gives everybody all: the version, then owner, user 1, group, mask
// and others, each with tag, permissions and id.
var accessList = []byte{
	2, 0, 0, 0,
	1, 0, 7, 0, 255, 255, 255, 255, 4, 0, 7, 0, 255, 255, 255, 255, 32, 0, 7, 0, 255, 255, 255, 255,
}

func withOpen(name string, flags int, do func(fd int) error) error {
	fd, err := unix.Open(name, flags|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return do(fd)
}

// withFile does something with a file that is open to be written.
func withFile(do func(fd int) error) func() error {
	return func() error { return withOpen("README.md", unix.O_RDWR, do) }
}

func mapShared(fd int) error {
	memory, err := unix.Mmap(fd, 0, 4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	copy(memory, "XXXX")
	return errors.Join(unix.Msync(memory, unix.MS_SYNC), unix.Munmap(memory))
}

// mapBehind maps what is the user's own file still when it is opened, and has it
// copied before it is written.
func mapBehind() error {
	return withOpen("README.md", unix.O_RDONLY, func(fd int) error {
		memory, err := unix.Mmap(fd, 0, 4, unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		err = os.Chmod("README.md", 0o666)
		if protect := unix.Mprotect(memory, unix.PROT_READ|unix.PROT_WRITE); protect == nil {
			copy(memory, "XXXX")
		}
		return errors.Join(err, unix.Munmap(memory))
	})
}

func copyTo(fd int, call uintptr) error {
	return withOpen("src/main.c", unix.O_RDONLY, func(from int) error {
		var errno syscall.Errno
		if call == unix.SYS_SENDFILE {
			_, _, errno = unix.Syscall6(call, uintptr(fd), uintptr(from), 0, 4, 0, 0)
		} else {
			_, _, errno = unix.Syscall6(call, uintptr(from), 0, uintptr(fd), 0, 4, 0)
		}
		if errno != 0 {
			return errno
		}
		return nil
	})
}

// reopened writes a file by a descriptor that is none to be written.
func reopened(flags int) error {
	return withOpen("README.md", flags, func(fd int) error {
		return os.WriteFile(fmt.Sprintf("/proc/self/fd/%d", fd), []byte("x"), 0)
	})
}

// linkUnnamed makes a file without a name, and then gives it one.
func linkUnnamed() error {
	return withOpen(".", unix.O_TMPFILE|unix.O_RDWR, func(fd int) error {
		return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, "new", unix.AT_SYMLINK_FOLLOW)
	})
}

func bindSocket() error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Bind(fd, &unix.SockaddrUnix{Name: "socket"})
}

func renameat2(from, to string, flags uint) func() error {
	return func() error { return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags) }
}
