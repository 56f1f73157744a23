package files

import (
	"io/fs"
	"strconv"

	"golang.org/x/sys/unix"
)

// State is what a file is: what of it changes are about, and what tells one
// state of a file from another without reading it.
type State struct {
	// Mode has the type, and the nine bits of permissions.
	Mode   fs.FileMode `json:"mode"`
	Size   int64       `json:"size,omitempty"`   // bytes, of a regular file
	Digest string      `json:"digest,omitempty"` // of a regular file, where it is known
	Link   string      `json:"link,omitempty"`   // of a symbolic link

	Inode    uint64 `json:"inode,omitempty"`
	Modified int64  `json:"modified,omitempty"` // nanoseconds since 1970
	Changed  int64  `json:"changed,omitempty"`  // of the status, in the same unit
	UID      uint32 `json:"uid,omitempty"`
	GID      uint32 `json:"gid,omitempty"`

	Links uint64 // names
	rdev  uint64
}

// Dir reports whether s is a directory.
func (s *State) Dir() bool { return s != nil && s.Mode.IsDir() }

// Regular reports whether s is a regular file.
func (s *State) Regular() bool { return s != nil && s.Mode.IsRegular() }

// Symlink reports whether s is a symbolic link.
func (s *State) Symlink() bool { return s != nil && s.Mode.Type() == fs.ModeSymlink }

// Special reports whether s is none of the three kinds that can be held.
func (s *State) Special() bool {
	return s != nil && !s.Dir() && !s.Regular() && !s.Symlink()
}

// Whiteout reports whether s says in an overlay that nothing is there.
func (s *State) Whiteout() bool {
	return s.Mode.Type() == fs.ModeDevice|fs.ModeCharDevice && s.rdev == 0
}

// SameFile reports whether both are one state of one file.
func (s *State) SameFile(o *State) bool {
	return s.Inode == o.Inode && s.Size == o.Size && s.Modified == o.Modified && s.Changed == o.Changed && s.Mode == o.Mode
}

// SameContent reports whether both have one type, content and mode, as far as
// the digests are known. What is in a directory is not its content.
func (s *State) SameContent(o *State) bool {
	return s.Mode == o.Mode && s.SameData(o)
}

// SameData is sameContent without the mode's permissions.
func (s *State) SameData(o *State) bool {
	if s.Mode.Type() != o.Mode.Type() || s.Link != o.Link {
		return false
	}
	return !s.Regular() || s.Size == o.Size && s.Digest == o.Digest && s.Digest != ""
}

// StateOf returns the state of an open file, without a digest.
func StateOf(fd int) (*State, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	s := FromStat(&st)
	return s, s.readLink(fd, "")
}

// StateAt returns the state of a name in a directory, without a digest.
func StateAt(dirfd int, name string) (*State, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(dirfd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, err
	}
	s := FromStat(&st)
	return s, s.readLink(dirfd, name)
}

func (s *State) readLink(dirfd int, name string) error {
	if !s.Symlink() {
		return nil
	}
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(dirfd, name, target)
	if err == nil {
		s.Link = string(target[:n])
	}
	return err
}

var fileTypes = map[uint32]fs.FileMode{
	unix.S_IFREG: 0, unix.S_IFDIR: fs.ModeDir, unix.S_IFLNK: fs.ModeSymlink, unix.S_IFIFO: fs.ModeNamedPipe,
	unix.S_IFSOCK: fs.ModeSocket, unix.S_IFBLK: fs.ModeDevice, unix.S_IFCHR: fs.ModeDevice | fs.ModeCharDevice,
}

// FromStat returns what the kernel says of a file: no digest, and no target of a
// link.
func FromStat(st *unix.Stat_t) *State {
	s := &State{
		Mode:  fileTypes[st.Mode&unix.S_IFMT] | fs.FileMode(st.Mode&0o777),
		Inode: st.Ino, Modified: st.Mtim.Nano(), Changed: st.Ctim.Nano(), UID: st.Uid, GID: st.Gid,
		Links: uint64(st.Nlink), rdev: st.Rdev, // the types differ by system
	}
	if s.Regular() {
		s.Size = st.Size
	}
	return s
}

// procPath is a path to an open file, whatever it is.
func procPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
