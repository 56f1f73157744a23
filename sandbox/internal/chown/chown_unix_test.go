//go:build unix

package chown

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What root has in a directory is given away, and nothing outside; nor what is
// deeper than a server makes anything, where programs could keep it for hours.
func TestTree(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root")
	}
	const other = 65534
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	deep := strings.Repeat("d/", 100)
	err := errors.Join(
		os.WriteFile(outside, nil, 0o600),
		os.MkdirAll(filepath.Join(dir, deep), 0o700),
		os.WriteFile(filepath.Join(dir, "d/d/file"), nil, 0o600),
		os.WriteFile(filepath.Join(dir, "of-another"), nil, 0o600),
		os.Chown(filepath.Join(dir, "of-another"), 12345, 12345),
		os.Symlink(outside, filepath.Join(dir, "link")),
		os.Link(outside, filepath.Join(dir, "d/same")),
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := Tree(dir, other, other); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint32{".": other, "d": other, "d/d/file": other, "link": other, "d/same": 0, "of-another": 12345, deep: 0} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != want {
			t.Errorf("%.20s is of user %d, want %d, %v", name, info.Sys().(*syscall.Stat_t).Uid, want, err)
		}
	}
}
