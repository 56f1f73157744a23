//go:build amd64 || arm64

package jail

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// builder builds a file system below an open directory. Every path is
// resolved inside of it, and through no link: what is on the host can neither
// be reached nor made by mistake.
type builder struct {
	root int
	dir  openDir // that something was made in last
}

// openDir is a directory of the new root.
type openDir struct {
	path string // empty where none is open
	fd   int
}

// newBuilder mounts an empty root.
func newBuilder(bytes int64) (*builder, error) {
	if err := mountTmpfs(newRoot, bytes, "755"); err != nil {
		return nil, failed("mount the root", err)
	}
	root, err := openMounted(newRoot)
	if err != nil {
		return nil, failed("open the root", err)
	}
	if err := unix.Fchdir(root); err != nil {
		return nil, failed("open the root", err)
	}
	return &builder{root: root}, failed("make /"+empty, unix.Mkdirat(root, empty, 0o555))
}

func openMounted(name string) (int, error) {
	return unix.Open(name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
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
	if err := b.attachShares(layers, orders.Shares); err != nil { // over what else is there
		return err
	}
	return b.pivot()
}

func (b *builder) attachAll(sources []int, mounts []Mount) error {
	for i, mount := range mounts {
		if err := b.attachOne(sources[i], mount); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) attachOne(source int, mount Mount) (err error) {
	step := "mount " + mount.Target
	if mount.Private && mount.detached() { // not every kernel makes an overlay of what is mounted nowhere
		if err := b.move(source, mount); err != nil {
			return failed(step, err)
		}
	}
	if mount.Private {
		if source, err = b.cover(source); err != nil {
			return failed(StepCover, err)
		}
	}
	return failed(step, b.attach(source, mount))
}

// cover returns a mount of a directory that has files of its own, with the
// content of another, which it closes. Their file system is used by this run
// alone: what others lock are other files.
func (b *builder) cover(lower int) (int, error) {
	defer unix.Close(lower)
	// Without a directory to write to, it wants two to read from.
	return b.overlay(lower, overlayOptions{lower: ".:" + newRoot + "/" + empty})
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
// there yet. It stays open until another one is asked for.
func (b *builder) parent(name string) (int, error) {
	dir := path.Dir(name)
	if b.dir.path == dir {
		return b.dir.fd, nil
	}
	fd, err := b.openDir(dir)
	if err == nil {
		b.leave()
		b.dir = openDir{path: dir, fd: fd}
	}
	return fd, err
}

// leave closes the directory that something was made in last.
func (b *builder) leave() {
	if b.dir.path != "" {
		unix.Close(b.dir.fd)
		b.dir = openDir{}
	}
}

// openDir opens a directory, and makes it where it is not there yet.
func (b *builder) openDir(dir string) (int, error) {
	fd, err := b.within(dir, unix.O_DIRECTORY)
	if err != unix.ENOENT {
		return fd, err
	}
	above, err := b.openDir(path.Dir(dir))
	if err != nil {
		return -1, err
	}
	defer unix.Close(above)
	if err := unix.Mkdirat(above, path.Base(dir), 0o755); err != nil && err != unix.EEXIST {
		return -1, err
	}
	return b.within(dir, unix.O_DIRECTORY)
}

// attach puts a detached mount in its place, and closes it.
func (b *builder) attach(source int, mount Mount) error {
	defer unix.Close(source)
	return b.move(source, mount)
}

// move puts a detached mount in its place, which is made where it is not there yet.
func (b *builder) move(source int, mount Mount) error {
	err := b.make(mount.Target, func(dir int, name string) error {
		if err := makePoint(dir, name, mount.Dir); err != nil && err != unix.EEXIST {
			return err
		}
		return unix.MoveMount(source, "", dir, name, unix.MOVE_MOUNT_F_EMPTY_PATH) // over a link, not where it leads
	})
	if strings.HasPrefix(b.dir.path+"/", mount.Target+"/") { // it is below the mount now
		b.leave()
	}
	return err
}

// makePoint makes what something is mounted over.
func makePoint(dir int, name string, isDir bool) error {
	if isDir {
		return unix.Mkdirat(dir, name, 0o755)
	}
	return unix.Mknodat(dir, name, unix.S_IFREG|0o444, 0)
}

// make has something made by its name in the directory that holds it.
func (b *builder) make(name string, do func(dir int, name string) error) error {
	if path.Clean(name) != name || name == "/" || !path.IsAbs(name) {
		return unix.EINVAL // it would not be in the directory
	}
	parent, err := b.parent(name)
	if err != nil {
		return err
	}
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
	defer unix.Close(fd)
	n, err := unix.Write(fd, []byte(f.Content))
	if err == nil && n < len(f.Content) {
		err = unix.EIO
	}
	return err
}

// tmpfs mounts an empty directory at the top.
func (b *builder) tmpfs(name string, bytes int64, mode string) error {
	b.leave()
	if err := unix.Mkdirat(b.root, name, 0o755); err != nil {
		return failed("make /"+name, err)
	}
	return failed("mount /"+name, mountTmpfs(name, bytes, mode)) // the root is the working directory
}
