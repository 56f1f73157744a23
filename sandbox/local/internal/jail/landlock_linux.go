//go:build amd64 || arm64

package jail

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights to files and below directories, by what they are for.
const (
	landlockRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_DIR
	landlockWriteFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	// Devices can be made nowhere.
	landlockWrite = landlockWriteFile | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	// onFiles are those that a rule for a file may have.
	landlockOnFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | landlockWriteFile
)

// The first versions that restrict the truncation of files by path, and
// signals to processes outside.
const (
	landlockTruncateABI = 3
	LandlockSignalABI   = 6
)

// landlockSince are the rights that came after the first version.
var landlockSince = []struct {
	abi             int
	fs, net, scopes uint64
}{
	{abi: 1, fs: 1<<13 - 1},
	{abi: 2, fs: unix.LANDLOCK_ACCESS_FS_REFER},
	{abi: landlockTruncateABI, fs: unix.LANDLOCK_ACCESS_FS_TRUNCATE},
	{abi: 4, net: unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP},
	{abi: 5, fs: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
	{abi: LandlockSignalABI, scopes: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL},
	{abi: 9, fs: unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX},
}

// LandlockABI is the version of Landlock that the kernel has, 0 for none.
func LandlockABI() int {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(abi)
}

// newRuleset returns a ruleset that allows what is granted and, as far as this
// kernel can, nothing else; or -1 where the kernel has no Landlock. A network of
// the program's own it may use.
func newRuleset(rights Rights) (int, error) {
	abi := LandlockABI()
	if abi == 0 || len(rights.Landlock) == 0 {
		return -1, nil
	}
	var attr unix.LandlockRulesetAttr
	for _, since := range landlockSince {
		if since.abi <= abi {
			attr.Handled_access_fs |= since.fs
			if rights.Shared {
				attr.Handled_access_net |= since.net
			}
			attr.Scoped |= since.scopes
		}
	}
	ruleset, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET,
		uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return -1, errno
	}
	for _, grant := range rights.Landlock {
		if err := grant.add(int(ruleset), attr.Handled_access_fs); err != nil {
			return -1, err
		}
	}
	return int(ruleset), nil
}

// open opens what a grant is about. Containers may refuse openat2, so what needs
// no more than open does without.
func (g Grant) open() (int, error) {
	if !g.Exact {
		return unix.Open(g.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
	}
	return unix.Openat2(unix.AT_FDCWD, g.Path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
}

// add adds a grant of those rights that the ruleset handles.
func (g Grant) add(ruleset int, handled uint64) error {
	fd, err := g.open()
	if err == unix.ENOENT || err == unix.EACCES || err == unix.ENOTDIR || err == unix.ELOOP {
		return nil // nothing that could be used
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	access := uint64(landlockRead)
	if g.List {
		access = unix.LANDLOCK_ACCESS_FS_READ_DIR
	}
	if g.Write {
		access |= landlockWrite
	}
	if g.WriteFiles {
		access |= landlockWriteFile
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
	case unix.S_IFLNK:
		return nil
	default:
		access &= landlockOnFiles
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access & handled, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
