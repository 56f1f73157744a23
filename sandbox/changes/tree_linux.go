package changes

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

// tree is a directory that others may be changing. All access to what is in it
// is by descriptors, follows no symbolic link and enters no other file system.
type tree struct{ dir *os.File }

// maxPath is the length of the longest path below a tree, in bytes.
const maxPath = 3900

// openTree opens a directory by its absolute path, which may hold no symbolic
// link.
func openTree(dir string) (*tree, error) {
	fd, err := openat2(unix.AT_FDCWD, dir, unix.O_RDONLY|unix.O_DIRECTORY, unix.RESOLVE_NO_SYMLINKS)
	if err != nil {
		return nil, err
	}
	return &tree{os.NewFile(uintptr(fd), dir)}, nil
}

func (t *tree) close() { t.dir.Close() }

func (t *tree) fd() int { return int(t.dir.Fd()) }

func openat2(dirfd int, name string, flags int, resolve uint64) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Resolve: resolve}
	for tries := 0; ; tries++ {
		fd, err := unix.Openat2(dirfd, name, &how)
		if again := err == unix.EINTR || err == unix.EAGAIN && tries < 100; !again {
			return fd, err
		}
	}
}

// open opens what has a path. A link that is the path itself can be opened with
// O_PATH|O_NOFOLLOW only.
func (t *tree) open(name string, flags int) (int, error) {
	return openat2(t.fd(), name, flags, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_NO_XDEV)
}

// parent opens the directory of a path, and returns the last name of the path
// too. It can be listed.
func (t *tree) parent(name string) (dir *os.File, base string, err error) {
	fd, err := t.open(path.Dir(name), unix.O_RDONLY|unix.O_DIRECTORY)
	if err == unix.EACCES { // one that may be written and not be listed
		fd, err = t.open(path.Dir(name), unix.O_PATH|unix.O_DIRECTORY)
	}
	if err != nil {
		return nil, "", err
	}
	return os.NewFile(uintptr(fd), path.Dir(name)), path.Base(name), nil
}

// stat returns the state of a path without a digest, and how many names it has.
// Nothing there is [fs.ErrNotExist].
func (t *tree) stat(name string) (*state, error) {
	fd, err := t.open(name, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return stateOf(fd)
}

// names lists a directory, unsorted, up to a bound: one more means that there
// are more.
func (t *tree) names(name string, most int) ([]string, error) {
	fd, err := t.open(name, unix.O_RDONLY|unix.O_DIRECTORY)
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

// file opens a regular file, and nothing else, for reading.
func (t *tree) file(name string) (*os.File, error) {
	fd, err := t.open(name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY)
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

// digest sets the digest of a regular file's state. It fails with [errChanging]
// where the file is not in that state, or changes meanwhile.
func (t *tree) digest(name string, s *state) error {
	file, err := t.file(name)
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
	now, err := stateOf(int(file.Fd()))
	if err != nil {
		return err
	}
	if n != s.Size || !s.sameFile(now) {
		return errChanging
	}
	s.Digest = digestPrefix + hex.EncodeToString(hash.Sum(nil))
	return nil
}

var errChanging = errors.New("the file changes while it is read")

const digestPrefix = "sha256:"

// follow returns where a path leads to when links are followed, relative to the
// tree, whether or not something is there. It fails where that is outside.
func (t *tree) follow(name string) (string, error) {
	for rest := ""; ; name, rest = path.Dir(name), path.Join(path.Base(name), rest) {
		at, err := t.lands(name)
		switch {
		case err == nil:
			return path.Join(at, rest), nil
		case !missing(err) && !isErrno(err, unix.EACCES) || name == ".":
			return "", err
		}
	}
}

// lands returns where a path leads to when links are followed, relative to the
// tree. It fails with EXDEV where that is outside of it.
func (t *tree) lands(name string) (string, error) {
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
