//go:build amd64 || arm64

package jail

import (
	"path"

	"golang.org/x/sys/unix"
)

const (
	// rootBytes bounds the tmpfs of the root directory, which holds nothing
	// but mount points and small files, and can be written by nobody.
	rootBytes = 16 << 20
	// newRoot and newStage are directories that are on every system, over which
	// the new root is mounted until it is the root, and a stage for what it takes
	// besides. No skill and no workspace is below them.
	newRoot  = "/proc"
	newStage = "/dev"
	hostname = "sandbox"
	// empty is a directory of the root in which nothing is.
	empty = ".empty"
)

// StepCover is at which a kernel fails that cannot do what [Mount.Private]
// asks for.
const StepCover = "give a directory files of its own"

// devices are the files of /dev.
var devices = []string{"null", "zero", "full", "random", "urandom"}

// deviceLinks are the names that programs expect there. POSIX shared memory is
// in /tmp.
var deviceLinks = []Link{
	{"/dev/fd", "/proc/self/fd"},
	{"/dev/stdin", "/proc/self/fd/0"},
	{"/dev/stdout", "/proc/self/fd/1"},
	{"/dev/stderr", "/proc/self/fd/2"},
	{"/dev/shm", "/tmp"},
}

// shown are the files and directories of /proc that programs see besides those
// of their own processes: what tells how much of the machine they may use. All
// others tell about the machine and who else uses it.
var shown = []string{"cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "sys", "sysvipc", "uptime", "version"}

// masked is what of them is not shown.
var masked = []string{"sys/kernel/random/boot_id"}

// build builds the file system beside the server's, from which more mounts can
// be added until finish makes it the root.
func (r *Root) build() (*builder, error) {
	// What happens to the mounts of the server's namespace happens here, so
	// that one that it unmounts is not held here; and nothing happens there.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return nil, failed("separate the mounts", err)
	}
	for _, name := range devices {
		r.Mounts = append(r.Mounts, Mount{Source: "/dev/" + name, Target: "/dev/" + name, Writable: true})
	}
	sources, err := open(r.Mounts, nil) // before anything is mounted over them
	if err != nil {
		return nil, err
	}
	b, err := newBuilder(rootBytes)
	if err != nil {
		return nil, err
	}
	if err := b.attachAll(sources, r.Mounts); err != nil {
		return nil, err
	}
	for _, build := range []func() error{
		func() error { return b.tmpfs("tmp", r.TmpBytes, "1777") }, // where links may be
		func() error { return b.populate(r) },
		b.proc,
		connectLoopback,
		func() error { return failed("name the host", unix.Sethostname([]byte(hostname))) },
	} {
		if err := build(); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// connectLoopback brings up the one interface of a new network namespace, by
// which processes in it can reach each other and nobody else.
func connectLoopback() error {
	const step = "bring up the loopback interface"
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return failed(step, err)
	}
	defer unix.Close(fd)
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return failed(step, err)
	}
	loopback.SetUint16(unix.IFF_UP)
	return failed(step, unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, loopback))
}

// detached reports whether what is to be shown comes as a mount of its own.
func (m *Mount) detached() bool { return m.Source == "" }

// open returns a detached mount of every source, with its attributes set; of one
// that is [Mount.Private], which is not mounted itself, the directory.
func open(mounts []Mount, files []int) ([]int, error) {
	sources := make([]int, len(mounts))
	for i, mount := range mounts {
		if mount.detached() {
			if mount.File < 0 || mount.File >= len(files) {
				return nil, failed("open "+mount.Target, unix.EBADF)
			}
			sources[i] = files[mount.File]
			continue
		}
		var err error
		if mount.Private {
			sources[i], err = mount.open()
			err = failed("open "+mount.Target, err)
		} else {
			sources[i], err = Detach(mount, nil)
		}
		if err != nil {
			return nil, err
		}
	}
	return sources, nil
}

// Detach returns a detached mount of a source, with its attributes set. Where
// idmap is set, it returns the descriptor of a user namespace that maps the
// owners of files.
func Detach(mount Mount, idmap func(mount int) (namespace int, err error)) (int, error) {
	fd, err := clone(mount)
	if err != nil {
		return -1, failed("open "+mount.Target, err)
	}
	namespace := 0
	if idmap != nil {
		namespace, err = idmap(fd)
	}
	if err == nil {
		err = restrict(fd, mount, namespace)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// clone returns a detached mount of a source. One that is [Mount.Single] is what
// its path says, and nothing that a link leads to.
func clone(mount Mount) (int, error) {
	const flags = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC
	if !mount.Single {
		return unix.OpenTree(unix.AT_FDCWD, mount.Source, flags|unix.AT_RECURSIVE)
	}
	fd, err := mount.open()
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	return unix.OpenTree(fd, "", flags|unix.AT_EMPTY_PATH)
}

// open opens a source to name it.
func (m *Mount) open() (int, error) {
	flags := unix.O_PATH | unix.O_CLOEXEC
	if m.Dir {
		flags |= unix.O_DIRECTORY
	}
	if !m.Single {
		return unix.Open(m.Source, flags, 0)
	}
	return unix.Openat2(unix.AT_FDCWD, m.Source, &unix.OpenHow{
		Flags: uint64(flags), Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
}

// restrict takes from a detached mount what programs need not do there, and
// from all others the means to change it by what they mount elsewhere.
func restrict(fd int, mount Mount, idmap int) error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID, Propagation: unix.MS_PRIVATE}
	if !isDevice(mount) {
		attr.Attr_set |= unix.MOUNT_ATTR_NODEV
	}
	if !mount.Writable {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	if idmap > 0 {
		attr.Attr_set |= unix.MOUNT_ATTR_IDMAP
		attr.Userns_fd = uint64(idmap)
	}
	err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr)
	return failed("restrict "+mount.Target, err)
}

func isDevice(mount Mount) bool { return path.Dir(mount.Target) == "/dev" }
