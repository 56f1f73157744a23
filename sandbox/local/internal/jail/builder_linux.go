//go:build amd64 || arm64

package jail

import (
	"os"
	"path"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// builder builds a file system below an open directory. Every path is
// resolved inside of it, and through no link: what is on the host can neither
// be reached nor made by mistake.
type builder struct{ root, stage int }

// newBuilder mounts an empty root, and what is around it until it is the root: a
// stage on which there are directories for as long as something is made of them.
func newBuilder(bytes int64) (*builder, error) {
	if err := mountTmpfs(scaffold, bytes, "755"); err != nil {
		return nil, failed("mount the scaffold", err)
	}
	if err := unix.Mkdir(newRoot, 0o755); err != nil {
		return nil, failed("make the root", err)
	}
	if err := mountTmpfs(newRoot, bytes, "755"); err != nil {
		return nil, failed("mount the root", err)
	}
	b := new(builder)
	for name, fd := range map[string]*int{newRoot: &b.root, scaffold: &b.stage} {
		var err error
		if *fd, err = unix.Open(name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
			return nil, failed("open the root", err)
		}
	}
	if err := unix.Fchdir(b.root); err != nil {
		return nil, failed("open the root", err)
	}
	return b, failed("make /"+empty, unix.Mkdirat(b.root, empty, 0o555))
}

func mountTmpfs(target string, bytes int64, mode string) error {
	data := "mode=" + mode + ",size=" + strconv.FormatInt(bytes, 10) + ",nr_inodes=65536"
	return unix.Mount("tmpfs", target, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, data)
}

// finish adds the last mounts and makes the file system this process's root.
// Nothing of the old one can be reached then.
func (b *builder) finish(orders *Orders, files []int) error {
	sources, err := open(orders.Mounts, files)
	if err != nil {
		return err
	}
	layers, err := openShares(orders.Shares, files)
	if err != nil {
		return err
	}
	if err := b.attachAll(sources, orders.Mounts); err != nil {
		return err
	}
	for i := range orders.Shares { // over what else is there
		if err := b.attachShare(i, layers[i], &orders.Shares[i]); err != nil {
			return failed(ShareStep(i), err)
		}
	}
	return b.pivot()
}

func (b *builder) attachAll(sources []int, mounts []Mount) error {
	for i, mount := range mounts {
		if err := b.attach(sources[i], mount); err != nil {
			return failed("mount "+mount.Target, err)
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
	lower, err := b.within(mount.Target, unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(lower)
	// Without a directory to write to, it wants two to read from.
	overlay, err := b.overlay(lower, overlayOptions{lower: ".:" + newRoot + "/" + empty})
	if err != nil {
		return err
	}
	defer unix.Close(overlay)
	return unix.MoveMount(overlay, "", lower, "", byDescriptors)
}

// overlayOptions are the directories of an overlay, by their paths from another
// one. Without an upper one, it is read-only.
type overlayOptions struct{ lower, upper, work string }

// overlay returns a detached mount of an overlay.
func (b *builder) overlay(from int, options overlayOptions) (mount int, err error) {
	if err := unix.Fchdir(from); err != nil { // any name may be in its path
		return -1, err
	}
	defer func() {
		if back := unix.Fchdir(b.root); err == nil {
			err = back // else what follows would be made elsewhere
		}
	}()
	fd, err := unix.Fsopen("overlay", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	if err := options.configure(fd); err != nil {
		return -1, err
	}
	flags := unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	if options.upper == "" {
		flags |= unix.MOUNT_ATTR_RDONLY
	}
	return unix.Fsmount(fd, unix.FSMOUNT_CLOEXEC, flags)
}

func (o overlayOptions) configure(fd int) error {
	parameters := [][2]string{{"lowerdir", o.lower}}
	flags := []string{"userxattr"} // as it must be in a user namespace
	if o.upper != "" {
		parameters = append(parameters, [2]string{"upperdir", o.upper}, [2]string{"workdir", o.work})
		// Who waits for a disk with each change, and at the end for all that
		// anybody has to write there, would wait for what a crash may take.
		flags = append(flags, "volatile")
	}
	for _, parameter := range parameters {
		if err := unix.FsconfigSetString(fd, parameter[0], parameter[1]); err != nil {
			return err
		}
	}
	for _, flag := range flags {
		if err := unix.FsconfigSetFlag(fd, flag); err != nil {
			return err
		}
	}
	return unix.FsconfigCreate(fd)
}

// within opens a path of the new root, to name it.
func (b *builder) within(name string, flags uint64) (int, error) {
	return unix.Openat2(b.root, name, &unix.OpenHow{
		Flags:   flags | unix.O_PATH | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
}

// parent opens the directory that holds name, and makes it where it is not
// there yet.
func (b *builder) parent(name string) (int, error) {
	dir := path.Dir(name)
	fd, err := b.within(dir, unix.O_DIRECTORY)
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
	return b.within(dir, unix.O_DIRECTORY)
}

const byDescriptors = unix.MOVE_MOUNT_F_EMPTY_PATH | unix.MOVE_MOUNT_T_EMPTY_PATH

// attach puts a detached mount in its place.
func (b *builder) attach(source int, mount Mount) error {
	target, err := b.within(mount.Target, 0)
	if err == unix.ENOENT {
		if err = b.makePoint(mount); err == nil {
			target, err = b.within(mount.Target, 0)
		}
	}
	if err == nil {
		err = unix.MoveMount(source, "", target, "", byDescriptors)
		unix.Close(target)
	}
	unix.Close(source)
	return err
}

// makePoint makes what something is mounted over.
func (b *builder) makePoint(mount Mount) error {
	return b.make(mount.Target, func(dir int, name string) error {
		if mount.Dir {
			return unix.Mkdirat(dir, name, 0o755)
		}
		return unix.Mknodat(dir, name, unix.S_IFREG|0o444, 0)
	})
}

// make has something made by its name in the directory that holds it.
func (b *builder) make(name string, do func(dir int, name string) error) error {
	parent, err := b.parent(name)
	if err != nil {
		return err
	}
	defer unix.Close(parent)
	return do(parent, path.Base(name))
}

// populate makes files and links.
func (b *builder) populate(r *Root) error {
	if err := b.write(r.Files); err != nil {
		return err
	}
	for _, link := range slices.Concat(deviceLinks, r.Links) {
		err := b.make(link.Path, func(dir int, name string) error { return unix.Symlinkat(link.Target, dir, name) })
		if err != nil {
			return failed("link "+link.Path, err)
		}
	}
	return nil
}

func (b *builder) write(files []File) error {
	for _, file := range files {
		if err := b.make(file.Path, file.write); err != nil {
			return failed("write "+file.Path, err)
		}
	}
	return nil
}

func (f File) write(dir int, name string) error {
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	out := os.NewFile(uintptr(fd), name)
	defer out.Close()
	_, err = out.WriteString(f.Content)
	return err
}

// tmpfs mounts an empty directory at the top.
func (b *builder) tmpfs(name string, bytes int64, mode string) error {
	if err := unix.Mkdirat(b.root, name, 0o755); err != nil {
		return failed("make /"+name, err)
	}
	return failed("mount /"+name, mountTmpfs(name, bytes, mode)) // the root is the working directory
}
