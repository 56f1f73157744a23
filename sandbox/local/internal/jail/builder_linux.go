//go:build amd64 || arm64

package jail

import (
	"os"
	"path"
	"strconv"

	"golang.org/x/sys/unix"
)

// builder builds a file system below an open directory. Every path is
// resolved inside of it, and through no link: what is on the host can neither
// be reached nor made by mistake.
type builder struct{ root int }

// newBuilder mounts an empty root.
func newBuilder(bytes int64) (*builder, error) {
	if err := mountTmpfs(scaffold, bytes, "755"); err != nil {
		return nil, failed("mount the root", err)
	}
	root, err := unix.Open(scaffold, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, failed("open the root", err)
	}
	if err := unix.Fchdir(root); err != nil {
		return nil, failed("open the root", err)
	}
	return &builder{root: root}, failed("make /"+empty, unix.Mkdirat(root, empty, 0o555))
}

func mountTmpfs(target string, bytes int64, mode string) error {
	data := "mode=" + mode + ",size=" + strconv.FormatInt(bytes, 10) + ",nr_inodes=65536"
	return unix.Mount("tmpfs", target, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, data)
}

// finish adds the last mounts and makes the file system this process's root.
// Nothing of the old one can be reached then.
func (b *builder) finish(mounts []Mount, files []int) error {
	sources, err := open(mounts, files)
	if err != nil {
		return err
	}
	if err := b.attachAll(sources, mounts); err != nil {
		return err
	}
	return b.pivot()
}

func (b *builder) attachAll(sources []int, mounts []Mount) error {
	for i, mount := range mounts {
		if err := b.attach(sources[i], mount); err != nil {
			return err
		}
		if mount.Private {
			if err := b.cover(mount); err != nil {
				return failed(StepCover, err)
			}
		}
	}
	return nil
}

// cover puts over a directory one that has files of its own, with the same
// content. Their file system is used by this run alone: what others lock are
// other files.
func (b *builder) cover(mount Mount) error {
	lower, err := b.within(mount.Target, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(lower)
	overlay, err := b.overlay(lower)
	if err != nil {
		return err
	}
	defer unix.Close(overlay)
	return unix.MoveMount(overlay, "", lower, "", byDescriptors)
}

// overlay returns a detached mount that shows what a directory does.
func (b *builder) overlay(lower int) (int, error) {
	if err := unix.Fchdir(lower); err != nil { // any name may be in its path
		return -1, err
	}
	defer unix.Fchdir(b.root)
	fd, err := unix.Fsopen("overlay", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	// Without a directory to write to, it wants two to read from.
	err = unix.FsconfigSetString(fd, "lowerdir", ".:"+scaffold+"/"+empty)
	if err == nil {
		err = unix.FsconfigSetFlag(fd, "userxattr") // as it must be in a user namespace
	}
	if err == nil {
		err = unix.FsconfigCreate(fd)
	}
	if err != nil {
		return -1, err
	}
	const flags = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	return unix.Fsmount(fd, unix.FSMOUNT_CLOEXEC, flags)
}

// within opens a path of the new root.
func (b *builder) within(name string, flags int) (int, error) {
	return unix.Openat2(b.root, name, &unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC),
		Mode:    uint64(modeOf(flags)),
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
}

func modeOf(flags int) uint32 {
	if flags&unix.O_CREAT != 0 {
		return 0o644
	}
	return 0
}

// parent opens the directory that holds name, and makes it where it is not
// there yet.
func (b *builder) parent(name string) (int, error) {
	dir := path.Dir(name)
	fd, err := b.within(dir, unix.O_PATH|unix.O_DIRECTORY)
	if err != unix.ENOENT {
		return fd, err
	}
	above, err := b.parent(dir)
	if err != nil {
		return -1, err
	}
	defer unix.Close(above)
	if err := unix.Mkdirat(above, path.Base(dir), 0o755); err != nil && err != unix.EEXIST {
		return -1, err
	}
	return b.within(dir, unix.O_PATH|unix.O_DIRECTORY)
}

const byDescriptors = unix.MOVE_MOUNT_F_EMPTY_PATH | unix.MOVE_MOUNT_T_EMPTY_PATH

// attach puts a detached mount in its place.
func (b *builder) attach(source int, mount Mount) error {
	step := "mount " + mount.Target
	defer unix.Close(source)
	parent, err := b.parent(mount.Target)
	if err != nil {
		return failed(step, err)
	}
	defer unix.Close(parent)
	name, flags := path.Base(mount.Target), unix.O_PATH
	if mount.Dir {
		err = unix.Mkdirat(parent, name, 0o755)
	} else {
		err = unix.Mknodat(parent, name, unix.S_IFREG|0o444, 0)
	}
	if err != nil {
		return failed(step, err)
	}
	target, err := b.within(mount.Target, flags)
	if err != nil {
		return failed(step, err)
	}
	defer unix.Close(target)
	return failed(step, unix.MoveMount(source, "", target, "", byDescriptors))
}

// populate makes files and links.
func (b *builder) populate(r *Root) error {
	for _, file := range r.Files {
		if err := b.file(file); err != nil {
			return failed("write "+file.Path, err)
		}
	}
	for _, links := range [][]Link{deviceLinks, r.Links} {
		for _, link := range links {
			if err := b.link(link); err != nil {
				return failed("link "+link.Path, err)
			}
		}
	}
	return nil
}

func (b *builder) file(file File) error {
	parent, err := b.parent(file.Path)
	if err != nil {
		return err
	}
	unix.Close(parent)
	fd, err := b.within(file.Path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return err
	}
	out := os.NewFile(uintptr(fd), file.Path)
	defer out.Close()
	_, err = out.WriteString(file.Content)
	return err
}

func (b *builder) link(link Link) error {
	parent, err := b.parent(link.Path)
	if err != nil {
		return err
	}
	defer unix.Close(parent)
	return unix.Symlinkat(link.Target, parent, path.Base(link.Path))
}

// tmpfs mounts an empty directory at the top.
func (b *builder) tmpfs(name string, bytes int64, mode string) error {
	if err := unix.Mkdirat(b.root, name, 0o755); err != nil {
		return failed("make /"+name, err)
	}
	return failed("mount /"+name, mountTmpfs(name, bytes, mode)) // the root is the working directory
}
