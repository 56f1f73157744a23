package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/dirlock"
)

// nobodys is a process id that no process can have.
const nobodys = "1073741825"

// A server whose process id means nothing here may be one in another PID
// namespace. Its cgroups are its own as long as it lives.
func TestSweepLeavesWhatIsInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	left := filepath.Join(dir, namePrefix+nobodys+"-1")
	used := filepath.Join(dir, namePrefix+nobodys+"-2")
	ours := filepath.Join(dir, newName())
	other := filepath.Join(dir, "other")
	for _, name := range []string{left, used, ours, other} {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file, err := dirlock.Try(used)
	if err != nil {
		t.Fatal(err)
	}
	sweep(dir)
	expectThere(t, left, false)
	expectThere(t, used, true)
	expectThere(t, ours, true)
	expectThere(t, other, true)
	file.Close()
	sweep(dir)
	expectThere(t, used, false)
}

func expectThere(t *testing.T, name string, want bool) {
	t.Helper()
	if _, err := os.Stat(name); (err == nil) != want {
		t.Errorf("%s: %v, want that it is there: %t", filepath.Base(name), err, want)
	}
}

// What systemd has not delegated is its own, whoever may write there.
func TestDelegatedIsWhatSystemdSays(t *testing.T) {
	t.Parallel()
	mount := t.TempDir()
	if err := unix.Setxattr(mount, "user.delegate", []byte("0"), 0); err != nil {
		t.Skipf("the file system has no attributes: %v", err)
	}
	for _, test := range []struct {
		own    string
		marked string // unit that systemd has delegated
		around []string
		fails  bool
	}{
		{own: "a.slice/plain.service", fails: true},
		{own: "a.slice/session-1.scope", fails: true},
		{own: "a.slice/part.service/payload", fails: true},
		{own: "b.slice/d.service", marked: "b.slice/d.service"},
		{own: "b.slice/e.service/payload", marked: "b.slice/e.service", around: []string{"b.slice/e.service"}},
		{own: "user@1.service/app.slice/f.scope", marked: "user@1.service", fails: true},
	} {
		own := filepath.Join(mount, test.own)
		if err := os.MkdirAll(own, 0o755); err != nil {
			t.Fatal(err)
		}
		if test.marked != "" {
			if err := unix.Setxattr(filepath.Join(mount, test.marked), "user.delegate", []byte("1"), 0); err != nil {
				t.Fatal(err)
			}
		}
		around, err := delegated(location{dir: own, mount: mount})
		around = slices.DeleteFunc(around, isOwners) // by ownership, for an ordinary user
		var want []string
		for _, name := range test.around {
			if name = filepath.Join(mount, name); !isOwners(name) {
				want = append(want, name)
			}
		}
		if (err != nil) != test.fails || !slices.Equal(around, want) {
			t.Errorf("%s: %q, %v", test.own, around, err)
		}
	}
}

// Whoever moves a process must be allowed to write where its old cgroup and
// its new one part.
func TestMayMoveAsksTheCgroupAroundBoth(t *testing.T) {
	t.Parallel()
	mount := t.TempDir()
	from, to := filepath.Join(mount, "a", "b", "from"), filepath.Join(mount, "a", "bc", "to")
	for _, dir := range []string{from, to} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), nil, 0o600); err != nil || mayMove(from, to) {
			t.Errorf("may move without the cgroup around both, %v", err)
		}
	}
	if err := os.WriteFile(filepath.Join(mount, "a", "cgroup.procs"), nil, 0o600); err != nil || !mayMove(from, to) {
		t.Errorf("may not move with the cgroup around both, %v", err)
	}
}
