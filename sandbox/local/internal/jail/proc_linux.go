//go:build amd64 || arm64

package jail

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// proc mounts the /proc of the new PID namespace, read-only and without what
// it tells of the machine. Processes that a program may not trace, such as
// its supervisor, are hidden from it.
func (b *builder) proc() error {
	if err := unix.Mkdirat(b.root, "proc", 0o555); err != nil {
		return failed("make /proc", err)
	}
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("proc", "proc", "proc", flags, "hidepid=2"); err != nil {
		return failed("mount /proc", err)
	}
	if err := b.maskAll(); err != nil {
		return err
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	err := unix.MountSetattr(b.root, "proc", unix.AT_SYMLINK_NOFOLLOW|unix.AT_RECURSIVE, &attr)
	return failed("restrict /proc", err)
}

// maskAll masks what is not shown, whatever this kernel has.
func (b *builder) maskAll() error {
	entries, err := os.ReadDir("proc") // the root is the working directory
	if err != nil {
		return failed("list /proc", err)
	}
	masks, err := b.openMasks()
	if err != nil {
		return failed("mask /proc", err)
	}
	defer masks.close()
	for _, name := range masked {
		if err := masks.put("proc/"+name, false); err != nil && err != unix.ENOENT {
			return failed("mask /proc/"+name, err)
		}
	}
	for _, entry := range entries {
		name := entry.Name()
		own := name[0] >= '0' && name[0] <= '9' || entry.Type() == os.ModeSymlink
		if own || slices.Contains(shown, name) {
			continue
		}
		if err := masks.put("proc/"+name, entry.IsDir()); err != nil && err != unix.ENOENT {
			return failed("mask /proc/"+name, err)
		}
	}
	return nil
}

// masks are what is put over what is not shown: /dev/null over a file, and an
// empty directory over a directory.
type masks struct{ root, file, dir int }

func (b *builder) openMasks() (m masks, err error) {
	if m.file, err = b.within("dev/null", 0); err != nil {
		return m, err
	}
	if m.dir, err = b.within(empty, unix.O_DIRECTORY); err != nil {
		unix.Close(m.file)
	}
	m.root = b.root
	return m, err
}

func (m masks) close() {
	unix.Close(m.file)
	unix.Close(m.dir)
}

// put masks what has a name in the root.
func (m masks) put(name string, isDir bool) error {
	mask := m.file
	if isDir {
		mask = m.dir
	}
	fd, err := unix.OpenTree(mask, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.MoveMount(fd, "", m.root, name, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// pivot makes the new root the root, unmounts the old one, and makes it
// read-only.
func (b *builder) pivot() error {
	defer unix.Close(b.root)
	b.leave()
	if err := unix.PivotRoot(".", "."); err != nil {
		return failed("change the root", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil { // the old one is on top
		return failed("leave the old root", err)
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(b.root, "", unix.AT_EMPTY_PATH, &attr); err != nil {
		return failed("restrict the root", err)
	}
	return failed("enter the root", unix.Chdir("/"))
}
