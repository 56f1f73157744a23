//go:build amd64 || arm64

package local

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// nobody is the user and the group that programs of root are on the host.
const nobody = 65534

// runsAsNobody tells whether the server is root and may act for other users.
func runsAsNobody() bool {
	if os.Geteuid() != 0 {
		return false
	}
	for _, file := range []string{"/proc/self/uid_map", "/proc/self/gid_map"} {
		mapping, err := os.ReadFile(file)
		if err != nil || !covers(string(mapping), nobody) {
			return false
		}
	}
	return true
}

// covers tells whether an ID is part of a mapping, as /proc/self/uid_map has it.
func covers(mapping string, id uint64) bool {
	for line := range strings.Lines(mapping) {
		var first, host, count uint64
		if n, err := fmt.Sscan(line, &first, &host, &count); n == 3 && err == nil && id >= first && id-first < count {
			return true
		}
	}
	return false
}

// owners shows directories that belong to others to programs that run as
// nobody, as if they were nobody's, and stores what these write as the
// others': by idmapped mounts, which take root to make.
type owners struct {
	spawner *spawner

	mu         sync.Mutex
	namespaces map[[2]uint32]*os.File // of user and group
}

func newOwners(spawner *spawner) *owners {
	return &owners{spawner: spawner, namespaces: make(map[[2]uint32]*os.File)}
}

func (o *owners) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, namespace := range o.namespaces {
		namespace.Close()
	}
	o.namespaces = nil
}

// detach makes the mounts here that nobody could make, since nobody may not
// go to the directory. The files are the mounts'. Owners are mapped for a run's
// own directories alone: of all others programs read what anybody may.
func (o *owners) detach(mounts []jail.Mount) (files []*os.File, err error) {
	for i := range mounts {
		mount := &mounts[i]
		fd, err := o.mount(*mount)
		if err != nil {
			closeAll(files)
			return nil, err
		}
		mount.Source, mount.File = "", len(files)
		files = append(files, os.NewFile(uintptr(fd), mount.Target))
	}
	return files, nil
}

func (o *owners) mount(mount jail.Mount) (int, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, mount.Source, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", mount.Target, err)
	}
	idmap := 0
	if isOwn(mount) {
		idmap, err = o.idmap(fd)
	}
	if err == nil {
		err = jail.Restrict(fd, mount, idmap)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// idmap returns a user namespace that maps the owner of a file to nobody.
func (o *owners) idmap(fd int) (int, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return 0, err
	}
	namespace, err := o.namespace(stat.Uid, stat.Gid)
	if err != nil {
		return 0, err
	}
	return int(namespace.Fd()), nil
}

// namespace gives a user namespace that maps an owner to nobody.
func (o *owners) namespace(uid, gid uint32) (*os.File, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	owner := [2]uint32{uid, gid}
	if namespace := o.namespaces[owner]; namespace != nil {
		return namespace, nil
	}
	namespace, err := o.newNamespace(uid, gid)
	if err != nil {
		return nil, fmt.Errorf("map the owner: %w", err)
	}
	o.namespaces[owner] = namespace
	return namespace, nil
}

// newNamespace makes a user namespace by way of a process that lives no longer
// than it takes to open it: a supervisor that waits for orders in vain.
func (o *owners) newNamespace(uid, gid uint32) (namespace *os.File, err error) {
	orders, leash, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, orders.Close(), leash.Close()) }()
	command := &exec.Cmd{
		Path:       supervisor.SelfExe,
		Args:       []string{jail.Name},
		Env:        []string{},
		ExtraFiles: []*os.File{orders},
		SysProcAttr: &syscall.SysProcAttr{
			Pdeathsig:   syscall.SIGKILL,
			Cloneflags:  unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: int(uid), HostID: nobody, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: int(gid), HostID: nobody, Size: 1}},
		},
	}
	if err := o.spawner.start(command); err != nil {
		return nil, err
	}
	defer command.Wait()
	defer command.Process.Kill()
	return os.Open(fmt.Sprintf("/proc/%d/ns/user", command.Process.Pid))
}
