package layers

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

// permissionBits are those of a mode that a copy keeps.
const permissionBits = 0o777

// stamp is what a file has in one state and not in another, without reading it.
type stamp struct {
	mode         uint32 // type and permissions
	dev, ino     uint64
	size         int64
	mtime, ctime int64 // nanoseconds since 1970
}

func stampOf(stat *unix.Stat_t) stamp {
	s := stamp{mode: stat.Mode, dev: stat.Dev, ino: stat.Ino, mtime: stat.Mtim.Nano(), ctime: stat.Ctim.Nano()}
	if s.kind() != unix.S_IFDIR {
		s.size = stat.Size
	}
	return s
}

func (s stamp) kind() uint32 { return s.mode & unix.S_IFMT }

func (s stamp) isDir() bool { return s.kind() == unix.S_IFDIR }

// permissions are those that programs get: none that sets an identity.
func (s stamp) permissions() uint32 { return s.mode & permissionBits }

// settled reports whether what is read at that time is the content of every file
// that is found in this state.
func (s stamp) settled(read time.Time) bool {
	return max(s.mtime, s.ctime) < read.Add(-filestat.SettleTime).UnixNano()
}

// times are those to set: the time of the last access is of no use.
func (s stamp) times() []unix.Timespec {
	return []unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(s.mtime)}
}

// node is a directory, regular file or symbolic link of a copy.
type node struct {
	// layers are where it is, by number and in ascending order: in one, unless it
	// is a directory. from is its state in the first.
	layers []int
	from   stamp
	// stale reports that what was copied may not be what is found in that state.
	stale bool
	// to is the state of the copy.
	to       stamp
	children map[string]*node // of a directory
	unread   bool             // a directory whose children are not known
	born     int64            // when the copy of a directory was made, or 0
}

// child returns the node of a name, or nil where there is none, or no directory.
func (n *node) child(name string) *node {
	if n == nil {
		return nil
	}
	return n.children[name]
}
