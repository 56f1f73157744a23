package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// Tree is a directory that others may be changing. All access to what is in it
// is by descriptors, follows no symbolic link and enters no other file system.
type Tree struct{ dir *os.File }

// MaxPath is the length of the longest path below a tree, in bytes: no directory
// below a longer one is shown to programs.
const MaxPath = 3000

// Open opens a directory by its absolute path, which may hold no symbolic link.
func Open(dir string) (*Tree, error) {
	fd, err := openat2(unix.AT_FDCWD, dir, unix.O_RDONLY|unix.O_DIRECTORY, unix.RESOLVE_NO_SYMLINKS)
	if err != nil {
		return nil, err
	}
	return &Tree{os.NewFile(uintptr(fd), dir)}, nil
}

// Close gives the directory back.
func (t *Tree) Close() { t.dir.Close() }

// fd returns the descriptor of the directory, which stays the tree's.
func (t *Tree) fd() int { return int(t.dir.Fd()) }

func openat2(dirfd int, name string, flags int, resolve uint64) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Resolve: resolve}
	for tries := 0; ; tries++ {
		fd, err := unix.Openat2(dirfd, name, &how)
		if again := err == unix.EINTR || err == unix.EAGAIN && tries < 100; !again {
			return fd, err
		}
	}
}

// Open opens what has a path. A link that is the path itself can be opened with
// O_PATH|O_NOFOLLOW only.
func (t *Tree) Open(name string, flags int) (int, error) {
	return openat2(t.fd(), name, flags, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_NO_XDEV)
}

// Parent opens the directory of a path, and returns the last name of the path
// too. It can be listed.
func (t *Tree) Parent(name string) (dir *os.File, base string, err error) {
	fd, err := t.Open(path.Dir(name), unix.O_RDONLY|unix.O_DIRECTORY)
	if err == unix.EACCES { // one that may be written and not be listed
		fd, err = t.Open(path.Dir(name), unix.O_PATH|unix.O_DIRECTORY)
	}
	if err != nil {
		return nil, "", err
	}
	return os.NewFile(uintptr(fd), path.Dir(name)), path.Base(name), nil
}

// Stat returns the state of a path without a digest, and how many names it has.
// Nothing there is [fs.ErrNotExist].
func (t *Tree) Stat(name string) (*State, error) {
	fd, err := t.Open(name, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return StateOf(fd)
}

// StatIfThere is [Tree.Stat], but that the state of nothing is nil.
func (t *Tree) StatIfThere(name string) (*State, error) {
	s, err := t.Stat(name)
	if Missing(err) {
		return nil, nil
	}
	return s, err
}

// Names lists a directory, unsorted, up to a bound: one more means that there
// are more.
func (t *Tree) Names(name string, most int) ([]string, error) {
	fd, err := t.Open(name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	dir := os.NewFile(uintptr(fd), name)
	defer dir.Close()
	names, err := dir.Readdirnames(max(most, 0) + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

// File opens a regular file, and nothing else, for reading.
func (t *Tree) File(name string) (*os.File, error) {
	fd, err := t.Open(name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), name)
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	return file, nil
}

// Digest sets the digest of a regular file's state. It fails with [ErrChanging]
// where the file is not in that state, or changes meanwhile.
func (t *Tree) Digest(name string, s *State) error {
	file, err := t.File(name)
	if err != nil {
		return err
	}
	defer file.Close()
	hash := sha256.New()
	// One byte more than the size shows that the file grew.
	n, err := io.Copy(hash, io.LimitReader(file, s.Size+1))
	if err != nil {
		return err
	}
	now, err := StateOf(int(file.Fd()))
	if err != nil {
		return err
	}
	if n != s.Size || !s.SameFile(now) {
		return ErrChanging
	}
	s.Digest = DigestPrefix + hex.EncodeToString(hash.Sum(nil))
	return nil
}

// ErrChanging means that a file was changed while it was read.
var ErrChanging = errors.New("the file changes while it is read")

// DigestPrefix begins every digest; the hash in hexadecimal follows.
const DigestPrefix = "sha256:"

// Follow returns where a path leads to when links are followed, relative to the
// tree, whether or not something is there. It fails where that is outside.
func (t *Tree) Follow(name string) (string, error) {
	for rest := ""; ; name, rest = path.Dir(name), path.Join(path.Base(name), rest) {
		at, err := t.lands(name)
		switch {
		case err == nil:
			return path.Join(at, rest), nil
		case !Missing(err) && !IsErrno(err, unix.EACCES) || name == ".":
			return "", err
		}
	}
}

// lands returns where a path leads to when links are followed, relative to the
// tree. It fails with EXDEV where that is outside of it.
func (t *Tree) lands(name string) (string, error) {
	fd, err := openat2(t.fd(), name, unix.O_PATH, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_MAGICLINKS)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	at, err := pathOf(fd)
	if err != nil {
		return "", err
	}
	root, err := pathOf(t.fd())
	if err != nil {
		return "", err
	}
	if at == root {
		return ".", nil
	}
	below, ok := strings.CutPrefix(at, strings.TrimSuffix(root, "/")+"/")
	if !ok {
		return "", unix.EXDEV
	}
	return below, nil
}

func pathOf(fd int) (string, error) { return os.Readlink(procPath(fd)) }

// Is reports whether a path, whose state was looked at, is as it is to be. It
// reads the file only where the times do not say it. Neither a directory's times
// matter nor what is in it.
func (t *Tree) Is(p string, now, want *State) bool {
	if now == nil || want == nil {
		return now == nil && want == nil
	}
	if now.Mode != want.Mode || now.Link != want.Link || now.Size != want.Size {
		return false
	}
	if !now.Regular() || now.SameFile(want) {
		return true
	}
	if want.Digest == "" {
		return false
	}
	if now.Digest == "" && t.Digest(p, now) != nil {
		return false
	}
	return now.Digest == want.Digest
}

// Below reports whether a path is dir or lies below it.
func Below(p, dir string) bool {
	return p == dir || dir == "." || strings.HasPrefix(p, dir) && p[len(dir)] == '/'
}
