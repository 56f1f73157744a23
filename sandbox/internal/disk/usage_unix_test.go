//go:build unix

package disk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/disk"
)

// Nothing that a program leaves behind is followed, waited for or taken for
// more than it is.
func TestMeasureOfWhatProgramsLeave(t *testing.T) {
	t.Parallel()
	outside, dir := t.TempDir(), t.TempDir()
	plant(t, outside, 1<<20, "a", "b")
	check(t, os.Symlink(outside, filepath.Join(dir, "out")))
	check(t, os.Symlink(".", filepath.Join(dir, "self")))
	check(t, os.Symlink("nowhere", filepath.Join(dir, "broken")))
	check(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	plant(t, dir, 0, "sparse", "latin1 \xf6/line\nbreak")
	check(t, os.Truncate(filepath.Join(dir, "sparse"), 1<<40))
	if used := measure(t, dir, disk.Unbounded); used.Files != 7 || used.Bytes > 64<<10 || used.Missed != 0 {
		t.Errorf("there are %+v", used)
	}
}

// What a program puts in the place of a directory that was counted is not
// waited for, and what lies outside is not counted.
func TestMeasureWhileDirectoriesAreReplaced(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	plant(t, outside, 1<<20, "a", "b")
	for name, test := range map[string]struct {
		replace func(dir string) error
		missed  int
	}{
		"nothing": {func(string) error { return nil }, 0},
		"a FIFO":  {func(dir string) error { return syscall.Mkfifo(dir, 0o644) }, 0},
		"a file":  {func(dir string) error { return os.WriteFile(dir, nil, 0o644) }, 0},
		"a link":  {func(dir string) error { return os.Symlink(outside, dir) }, 1},
	} {
		dir := t.TempDir()
		plant(t, dir, 0, "sub/file")
		used, err := disk.Measure(dir, disk.Unbounded, func(path string, info fs.FileInfo) {
			sub := filepath.Join(dir, path)
			check(t, errors.Join(os.Rename(sub, filepath.Join(t.TempDir(), "moved")), test.replace(sub)))
		})
		check(t, err)
		if used.Files != 1 || used.Bytes > 64<<10 || used.Missed != test.missed {
			t.Errorf("with %s in its place there are %+v", name, used)
		}
	}
}

// However much a caller wants to know, it is not told more of than this.
func TestMeasureHasBoundsOfItsOwn(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "makes 100,000 names")
	dir := t.TempDir()
	const files = 100_000
	for i := range files {
		check(t, os.Symlink(".", filepath.Join(dir, strconv.Itoa(i))))
	}
	if used := measure(t, dir, disk.Unbounded); used.Files != files || used.Missed != 0 {
		t.Errorf("of %d are counted %+v", files, used)
	}
	plant(t, dir, 0, "more", "and/more")
	if used := measure(t, dir, disk.Unbounded); used.Files != files+1 || used.Missed != 1 {
		t.Errorf("of more than %d are counted %+v", files, used)
	}
}

// A directory that cannot be looked into is missed, also where its names can
// be read.
func TestMeasureOfUnreadableDirectories(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("permissions do not hold for root")
	}
	dir := t.TempDir()
	plant(t, dir, 0, "locked/hidden")
	for _, mode := range []fs.FileMode{0, 0o100, 0o200, 0o300, 0o400, 0o600} {
		check(t, os.Chmod(filepath.Join(dir, "locked"), mode))
		used := measure(t, dir, disk.Unbounded)
		check(t, os.Chmod(filepath.Join(dir, "locked"), 0o700))
		if used.Files != 1 || used.Missed != 1 {
			t.Errorf("a directory of mode %v is %+v", mode, used)
		}
	}
	if used := measure(t, dir, disk.Usage{Bytes: 1 << 20, Files: 2}); used.Files != 2 || used.Missed != 0 {
		t.Errorf("unlocked it is %+v", used)
	}
}
