package docker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
)

// volumes returns the overlays of a template for the engine to mount, and what
// releases them once they are mounted. The error is [errNoOverlay].
//
// The engine is not given names, which could lead elsewhere by the time it looks
// at them: it is led to the very directories that are open here. So it has to be
// in this process's namespaces, of processes and of mounts.
func (b *Backend) volumes(of template) (volumes []engine.Volume, release func(), err error) {
	var opened []*os.File
	release = func() {
		for _, file := range opened {
			file.Close()
		}
	}
	for _, o := range of.overlays {
		mounts := &overlayMounts{overlay: o}
		volume, err := mounts.volume(b.emptyDir)
		opened = append(opened, mounts.opened...)
		if err != nil {
			release()
			return nil, nil, fmt.Errorf("%w: %w", errNoOverlay, err)
		}
		volumes = append(volumes, volume)
	}
	return volumes, release, nil
}

// overlayMounts opens what an overlay is made of.
type overlayMounts struct {
	overlay
	opened []*os.File
	owners *os.File // a user namespace that maps them, or nil
}

func (m *overlayMounts) volume(empty func() (string, error)) (engine.Volume, error) {
	volume := engine.Volume{Target: m.target, Type: "overlay", Device: "overlay"}
	user := m.layers[len(m.layers)-1]
	if err := m.mapOwners(user); err != nil {
		return volume, err
	}
	layers := m.layers
	if len(layers) == 1 && m.changes == "" { // the kernel wants two
		dir, err := empty()
		if err != nil {
			return volume, err
		}
		layers = append([]string{dir}, layers...)
	}
	var lower []string
	for _, layer := range layers {
		dir, err := m.open(layer, layer == m.target)
		if err != nil {
			return volume, err
		}
		lower = append(lower, dir)
	}
	options := []string{"userxattr", "index=off", "lowerdir=" + strings.Join(lower, ":")}
	if m.changes != "" {
		if err := os.Mkdir(filepath.Join(m.changes, engineDir), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return volume, err
		}
		dir, err := m.open(m.changes, false)
		if err != nil {
			return volume, err
		}
		options = append(options, "upperdir="+dir+"/"+sandbox.UpperDir, "workdir="+dir+"/"+engineDir)
	}
	volume.Options = strings.Join(options, ",") // without upper directory it is read-only
	return volume, nil
}

// open opens a directory and returns a name of it that leads nowhere else. Where
// owners are mapped it is a mount of its own. The user's own directory is not
// reached by links.
func (m *overlayMounts) open(dir string, direct bool) (name string, err error) {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC}
	if direct {
		how.Resolve = unix.RESOLVE_NO_SYMLINKS
	}
	fd, err := unix.Openat2(unix.AT_FDCWD, dir, how)
	if err != nil {
		return "", &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	file := os.NewFile(uintptr(fd), dir)
	m.opened = append(m.opened, file)
	if m.owners != nil {
		if fd, err = unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH); err != nil {
			return "", fmt.Errorf("open a mount of %s: %w", dir, err)
		}
		file = os.NewFile(uintptr(fd), dir)
		m.opened = append(m.opened, file)
		if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{
			Attr_set: unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(m.owners.Fd()),
		}); err != nil {
			return "", fmt.Errorf("map the owners in %s: %w", dir, err)
		}
	}
	return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd), nil
}

// mapOwners lets the user who runs programs be the owner of what belongs to the
// owner of a directory, where the server is root and these are not the same. What
// programs make is the owner's then.
func (m *overlayMounts) mapOwners(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t)
	var uid, gid int
	if _, err := fmt.Sscanf(m.user, "%d:%d", &uid, &gid); err != nil {
		return err
	}
	if int(owner.Uid) == uid && int(owner.Gid) == gid {
		return nil
	}
	if m.owners, err = newNamespace(exchange(int(owner.Uid), uid), exchange(int(owner.Gid), gid)); err != nil {
		return fmt.Errorf("map owners: %w", err)
	}
	m.opened = append(m.opened, m.owners)
	return nil
}

// hide makes what hides a name in the layers below.
func hide(name string) error {
	if err := unix.Mknod(name, unix.S_IFCHR, 0); err != nil {
		return &fs.PathError{Op: "mknod", Path: name, Err: err}
	}
	return nil
}
