package sandboxtest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// state is all that can be known of what is in a directory without opening what
// is special, by relative path: content, kind and mode, owner, times of change,
// links, identity and attributes.
type state map[string]string

// stateOf returns the state of a directory, itself included.
func stateOf(t testing.TB, dir string) state {
	t.Helper()
	found := make(state)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			found[name], err = describe(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// expectSame expects that a directory is as it was. The time of a directory's
// last change tells of what came and went between the two.
func (before state) expectSame(t testing.TB, dir string) {
	t.Helper()
	if diff := cmp.Diff(before, stateOf(t, dir)); diff != "" {
		t.Errorf("the user's files have changed (-before +after):\n%s", diff)
	}
}

func describe(path string) (string, error) {
	var stat unix.Stat_t
	if err := unix.Lstat(path, &stat); err != nil {
		return "", err
	}
	content, err := contentOf(path, stat.Mode)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("mode %o, owner %d:%d, %d links, device %d, inode %d, size %d, modified %d.%09d, changed %d.%09d, attributes %q, %s",
		stat.Mode, stat.Uid, stat.Gid, stat.Nlink, stat.Rdev, stat.Ino, stat.Size,
		stat.Mtim.Sec, stat.Mtim.Nsec, stat.Ctim.Sec, stat.Ctim.Nsec, attributes(path), content), nil
}

func contentOf(path string, mode uint32) (string, error) {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		content, err := os.ReadFile(path)
		return fmt.Sprintf("content %x", sha256.Sum256(content)), err
	case unix.S_IFLNK:
		target, err := os.Readlink(path)
		return fmt.Sprintf("to %q", target), err
	}
	return "", nil
}

// attributes returns the extended attributes of a file, or none where it can
// have none.
func attributes(path string) string {
	list := make([]byte, 4<<10)
	n, err := unix.Llistxattr(path, list)
	if err != nil {
		return ""
	}
	var all strings.Builder
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list[:n]), "\x00"), "\x00") {
		value := make([]byte, 4<<10)
		if n, err := unix.Lgetxattr(path, name, value); err == nil {
			fmt.Fprintf(&all, "%s=%q ", name, value[:n])
		}
	}
	return all.String()
}
