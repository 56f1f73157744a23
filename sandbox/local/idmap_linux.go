//go:build amd64 || arm64

package local

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// idmaps show directories that belong to others to programs that run as
// nobody, as if nobody owned them, and store what these write as the
// others': by idmapped mounts, which take root to make.
type idmaps struct {
	launch func(*exec.Cmd) (supervisor.Process, error)

	mu         sync.Mutex
	namespaces map[[2]uint32]*os.File // of user and group
}

func (m *idmaps) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, namespace := range m.namespaces {
		namespace.Close()
	}
	m.namespaces = nil
}

// detach makes the mounts here that nobody could make, since nobody may not
// go to the directory. The files are the mounts'. Owners are mapped for a run's
// own directories and what it is shown alone: of all others programs read what
// anybody may, as they do of what is shown where owners cannot be mapped.
func (m *idmaps) detach(mounts []jail.Mount) (files []*os.File, err error) {
	for i := range mounts {
		mount := &mounts[i]
		var idmap func(int) (int, error)
		if isOwn(*mount) {
			idmap = m.of
		}
		fd, err := jail.Detach(*mount, idmap)
		if err != nil && mount.Single && !mount.Writable {
			fd, err = jail.Detach(*mount, nil)
		}
		if err != nil {
			closeAll(files)
			return nil, err
		}
		mount.Source, mount.File = "", len(files)
		files = append(files, os.NewFile(uintptr(fd), mount.Target))
	}
	return files, nil
}

// of returns a user namespace that maps the owner of a file to nobody.
func (m *idmaps) of(fd int) (int, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	owner := [2]uint32{stat.Uid, stat.Gid}
	if m.namespaces[owner] == nil {
		namespace, err := m.newNamespace(int(stat.Uid), int(stat.Gid))
		if err != nil {
			return 0, fmt.Errorf("map the owner: %w", err)
		}
		m.namespaces[owner] = namespace
	}
	return int(m.namespaces[owner].Fd()), nil
}

// newNamespace makes a user namespace by way of a process that lives no longer
// than it takes to open it.
func (m *idmaps) newNamespace(uid, gid int) (*os.File, error) {
	pid, end, err := startIdle(m.launch, &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: nobody, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: nobody, Size: 1}},
	})
	if err != nil {
		return nil, err
	}
	defer end()
	return os.Open(fmt.Sprintf("/proc/%d/ns/user", pid))
}
