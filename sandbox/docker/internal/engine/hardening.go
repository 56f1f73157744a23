package engine

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	dockercontainer "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	units "github.com/docker/go-units"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

// Bind is a host directory in a container.
type Bind struct {
	Source, Target string
	ReadOnly       bool
}

// Tree is a directory that a copying container has besides, in memory too.
type Tree struct {
	Target   string
	Writable bool // by programs
}

// Blueprint describes a container. All else is the same for all: no network,
// nothing to write but the binds, the volumes and /tmp, and no capabilities.
type Blueprint struct {
	// Copying containers have file systems in memory instead of binds. They
	// are root's, without all capabilities but those that make another user
	// of it, until the skill's files are stored and the program is started.
	Copying        bool
	Image, Runtime string
	Healthcheck    bool // of the image, to be turned off
	// Unconnected containers have the network namespace that the runtime makes, and
	// empty files /etc/hosts and /etc/resolv.conf where nothing is bound. For others
	// the engine takes the namespace over, though nothing is to be connected, which is
	// half of what it takes to start them, and shows them which name servers its
	// machine has.
	Unconnected bool
	Command     []string
	User        string // "uid:gid"; of no matter where Copying is set
	Labels      map[string]string
	Binds       []Bind
	Volumes     []Volume
	Trees       []Tree
	MemoryBytes int64
	NanoCPUs    int64 // processor time, in billionths of a processor; 0 for no bound
	Processes   int64
}

const (
	// tmpBytes and shmBytes are the sizes of /tmp and /dev/shm, which count
	// as memory of the run.
	tmpBytes = 64 << 20
	shmBytes = 64 << 20
)

// WorkspaceBytes is how large the file system of a copying container's
// workspace is, which counts as memory of the run, skillBytes that of the
// skill, and privateBytes that of HOME and TMPDIR: what is left is for the
// programs, and for what comes after them.
func WorkspaceBytes(memory int64) int64 { return memory / 2 }
func skillBytes(memory int64) int64     { return memory / 4 }
func privateBytes(memory int64) int64   { return memory / 8 }

// TreesBytes is how large the file systems of all trees of a copying container
// are together.
func TreesBytes(memory int64) int64 { return memory / 4 }

// maskedPaths are what the kernel tells of the whole machine in /proc and
// /sys. They include all that any engine masks by default. What a program needs
// to know of its processors and its memory is also elsewhere.
var maskedPaths = []string{
	"/proc/acpi", "/proc/asound", "/proc/cmdline", "/proc/config.gz", "/proc/diskstats", "/proc/interrupts",
	"/proc/iomem", "/proc/ioports", "/proc/kallsyms", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
	"/proc/locks", "/proc/modules", "/proc/partitions", "/proc/sched_debug", "/proc/scsi",
	"/proc/sys/kernel/random/boot_id", "/proc/timer_list", "/proc/timer_stats", "/sys/block", "/sys/bus",
	"/sys/class", "/sys/dev", "/sys/devices", "/sys/firmware", "/sys/fs/selinux", "/sys/hypervisor",
	"/sys/kernel", "/sys/module", "/sys/power",
}

// programsOwn ends the options of a file system that the programs' user owns.
var programsOwn = fmt.Sprintf(",uid=%d,gid=%[1]d", protocol.User)

// hostConfig is the hardening.
func (b Blueprint) hostConfig() *dockercontainer.HostConfig {
	h := &dockercontainer.HostConfig{
		AutoRemove:     true,
		CapDrop:        []string{"ALL"},
		IpcMode:        "private",
		MaskedPaths:    maskedPaths,
		LogConfig:      dockercontainer.LogConfig{Type: "none"},
		NetworkMode:    "none",
		ReadonlyRootfs: true,
		RestartPolicy:  dockercontainer.RestartPolicy{Name: dockercontainer.RestartPolicyDisabled},
		Runtime:        b.Runtime,
		SecurityOpt:    []string{"no-new-privileges"}, // with the engine's default seccomp profile
		ShmSize:        shmBytes,
		Tmpfs:          map[string]string{"/tmp": fmt.Sprintf("rw,nosuid,nodev,size=%d,mode=1777", tmpBytes)},
		Resources: dockercontainer.Resources{
			NanoCPUs:   b.NanoCPUs,
			Memory:     b.MemoryBytes,
			MemorySwap: b.MemoryBytes, // the sum of both, so none
			PidsLimit:  &b.Processes,
			Ulimits:    []*units.Ulimit{{Name: "core"}}, // the entry program sets the others
		},
	}
	if b.Copying {
		h.CapAdd = []string{"SETUID", "SETGID", "SETPCAP"}
		h.Tmpfs[protocol.SkillDir] = fmt.Sprintf("rw,exec,nosuid,nodev,size=%d,mode=0755", skillBytes(b.MemoryBytes))
		h.Tmpfs[protocol.Workspace] = fmt.Sprintf("rw,exec,nosuid,nodev,size=%d,mode=0700", WorkspaceBytes(b.MemoryBytes)) + programsOwn
		for _, tree := range b.Trees {
			h.Tmpfs[tree.Target] = fmt.Sprintf("rw,exec,nosuid,nodev,size=%d,mode=0755", TreesBytes(b.MemoryBytes)/int64(len(b.Trees)))
			if tree.Writable {
				h.Tmpfs[tree.Target] += programsOwn
			}
		}
		h.Tmpfs[protocol.Private] = fmt.Sprintf("rw,exec,nosuid,nodev,size=%d,mode=0700", privateBytes(b.MemoryBytes)) + programsOwn
	}
	for _, m := range b.Binds {
		h.Mounts = append(h.Mounts, mount.Mount{
			Type: mount.TypeBind, Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly,
			// What is mounted below would be writable in spite of ReadOnly.
			BindOptions: &mount.BindOptions{Propagation: mount.PropagationRPrivate, NonRecursive: true},
		})
	}
	for _, v := range b.Volumes {
		h.Mounts = append(h.Mounts, v.mount(b.Labels))
	}
	return h
}

// podmanUlimit is how many files and processes a user may have. Podman sets its
// own, which it is not always allowed to, where none is given.
const podmanUlimit = 16 << 10

// podmanSeparators are what no path may have that Podman binds.
const podmanSeparators = ",\"\r\n"

// Binds reports whether the engine can bind something at a path.
func (e *Engine) Binds(target string) bool {
	return utf8.ValidString(target) && !(e.Podman && strings.ContainsAny(target, podmanSeparators))
}

// adaptToPodman changes what Podman takes otherwise than Docker.
func adaptToPodman(h *dockercontainer.HostConfig) error {
	h.MaskedPaths = nil // which it ignores
	h.SecurityOpt = append(h.SecurityOpt, "mask="+strings.Join(maskedPaths, ":"))
	h.Ulimits = append(h.Ulimits,
		&units.Ulimit{Name: "nofile", Soft: podmanUlimit, Hard: podmanUlimit},
		&units.Ulimit{Name: "nproc", Soft: podmanUlimit, Hard: podmanUlimit})
	for _, dir := range []string{"/run", "/var/tmp"} { // it would make these writable
		h.Tmpfs[dir] = "ro,nosuid,nodev,noexec,size=4096,mode=0555"
	}
	if _, copying := h.Tmpfs[protocol.Workspace]; copying {
		// It knows no owner of a file system; so the entry program sees to it.
		for dir := range h.Tmpfs {
			h.Tmpfs[dir] = strings.TrimSuffix(h.Tmpfs[dir], programsOwn)
		}
		h.CapAdd = append(h.CapAdd, "CHOWN")
	}
	for _, m := range h.Mounts {
		// It puts the fields of a mount into one line, in which a path could
		// go on with fields of its own.
		if strings.ContainsAny(m.Source+m.Target, podmanSeparators) {
			return ErrPath
		}
	}
	return nil
}

// ErrPath means that a directory cannot be bound because of its name.
var ErrPath = errors.New("its path has a comma, a quote or a line break, with which Podman cannot share it")

// ErrUnbounded means that the engine lacks control groups.
var ErrUnbounded = errors.New("the engine cannot bound what programs use")

// discarded looks for what an engine says of limits that it does not set: it
// only warns, and creates the container without them.
func discarded(warnings []string) error {
	for _, warning := range warnings {
		if strings.Contains(warning, "discarded") {
			return fmt.Errorf("%w: it says %q", ErrUnbounded, warning)
		}
	}
	return nil
}

// CheckBounds compares what a container says that it was given with what was
// asked for; 0 if it cannot tell. Engines that were told to leave control groups
// alone, or may not use them, say nothing. A runtime that was asked for may have
// a kernel of its own, with control groups of its own. The error is
// [ErrUnbounded].
func (b Blueprint) CheckBounds(memoryBytes, processes int64) error {
	switch {
	case b.Runtime != "":
	case memoryBytes > b.MemoryBytes:
		return fmt.Errorf("%w: a container has no bound on its memory", ErrUnbounded)
	case processes > b.Processes:
		return fmt.Errorf("%w: a container has no bound on its processes", ErrUnbounded)
	}
	return nil
}
