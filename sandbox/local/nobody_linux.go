//go:build amd64 || arm64

package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/chown"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

// nobody is the user and the group that programs of root are on the host.
const nobody = 65534

// runsAsNobody reports whether the server is root and may act for other users.
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

// covers reports whether an ID is part of a mapping, as /proc/self/uid_map has it.
func covers(mapping string, id uint64) bool {
	for line := range strings.Lines(mapping) {
		var first, host, count uint64
		if n, err := fmt.Sscan(line, &first, &host, &count); n == 3 && err == nil && id >= first && id-first < count {
			return true
		}
	}
	return false
}

// neededForNobody is what root must be able to do to run programs as nobody
// without namespaces, to end them, and to tidy up after them.
var neededForNobody = []int{
	unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_CHOWN, unix.CAP_FOWNER, unix.CAP_DAC_OVERRIDE, unix.CAP_KILL,
}

// holdsCapabilities reports whether this process has all of these. Root in a
// container need not.
func holdsCapabilities(capabilities []int) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var held [2]unix.CapUserData
	if unix.Capget(&header, &held[0]) != nil {
		return false
	}
	lacks := func(c int) bool { return held[c/32].Effective&(1<<(c%32)) == 0 }
	return !slices.ContainsFunc(capabilities, lacks)
}

// giveToNobody makes nobody the owner of a run's workspace and of its private
// directory, and lets it pass to there and to the skill.
func giveToNobody(spec sandbox.Spec) error {
	private := scratch.Owned(spec)
	err := errors.Join(
		chown.Tree(spec.Workspace, nobody, nobody), chown.Tree(private, nobody, nobody),
		openWay(spec.Workspace), openWay(private), openWay(spec.SkillDir))
	for _, share := range spec.Shares {
		if share.Access != sandbox.AccessOff { // of what is no copy, every user may pass to it
			err = errors.Join(err, openWay(share.Path))
		}
	}
	return err
}

// openWay lets nobody pass through those directories above one that keep all
// others out, below the directory for temporary files, where servers have theirs.
// Nobody may not list them.
func openWay(dir string) error {
	temporary, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return err
	}
	for above := filepath.Dir(dir); pathname.Within(above, temporary) && above != temporary; above = filepath.Dir(above) {
		info, err := os.Lstat(above)
		if err != nil {
			return err
		}
		stat := info.Sys().(*syscall.Stat_t)
		if stat.Uid != 0 || !info.IsDir() || info.Mode().Perm() != 0o700 {
			continue // it was opened, or is not ours
		}
		if err := os.Lchown(above, 0, nobody); err != nil {
			return err
		}
		if err := os.Chmod(above, 0o710); err != nil {
			return err
		}
	}
	return nil
}

// letsNobodyPass reports whether nobody may go to where something is, if need be
// because it was let.
func letsNobodyPass(name string) bool {
	if openWay(name) != nil {
		return false
	}
	for dir := filepath.Dir(name); dir != "/"; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return false
		}
		mode, stat := info.Mode().Perm(), info.Sys().(*syscall.Stat_t)
		if mode&0o001 == 0 && (stat.Gid != nobody || mode&0o010 == 0) {
			return false
		}
	}
	return true
}

// isPublic reports whether every user may pass through a directory.
func isPublic(dir string) bool {
	for {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == "/" {
			return true
		}
		dir = filepath.Dir(dir)
	}
}
