//go:build unix

package filetest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
)

// Secret is what lies outside; no test may ever see it.
const Secret = "SECRET that lies outside of the skill"

// Hostile is a directory with links of every kind beside honest files. The
// host path of a file with the secret is outside.
func Hostile(t testing.TB) (dir, outside string) {
	t.Helper()
	dir = Plant(t, map[string]string{
		"SKILL.md":          EntryDocument("planted"),
		"docs/guide.md":     "guide",
		"v2/notes.md":       "notes",
		".git/config":       "git",
		"node_modules/x/y":  "y",
		"docs/.DS_Store":    "mac",
		"docs/guide.md~":    "backup",
		"docs/.guide.swp":   "vim",
		"docs/.#guide.md":   "emacs",
		"docs/#guide.md#":   "emacs",
		"docs/4913":         "vim",
		"docs/.gitignore":   "honest",
		"docs/issue-4913":   "honest",
		"docs/C: drive":     "honest, but no path that can be given",
		`docs/back\slash`:   "honest, but no path that can be given",
		"__pycache__/a.pyc": "pyc",
	})
	outside = filepath.Join(filepath.Dir(dir), "outside")
	testfiles.Write(t, filepath.Join(outside, "secret.txt"), Secret)
	for link, target := range map[string]string{
		"latest":          "v2",
		"alias.md":        "docs/guide.md",
		"docs/up.md":      "../v2/notes.md",
		"docs/chain.md":   "up.md",
		"out.txt":         "../outside/secret.txt",
		"absolute.txt":    filepath.Join(outside, "secret.txt"),
		"outdir":          "../outside",
		"absolutedir":     outside,
		"passwd":          "/etc/passwd",
		"proc":            "/proc/self/root",
		"inabsolute":      filepath.Join(dir, "SKILL.md"),
		"detour":          "../planted/SKILL.md",
		"dangling":        "missing",
		"loop":            "loop",
		"loop1":           "loop2",
		"loop2":           "loop1",
		"docs/self":       ".",
		"docs/root":       "..",
		"v2/docs":         "../docs",
		"docs/v2":         "../v2",
		"docs/outchain":   "../out.txt",
		"docs/throughout": "../outdir/secret.txt",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, outside
}

// Swapping is a hostile directory in which swapped.txt and swapdir are one thing
// after another until the test ends: links to honest ones, links out, links to
// a FIFO. Renames replace in one step, so that the names are always there.
func Swapping(t testing.TB) (dir string) {
	t.Helper()
	dir, outside := Hostile(t)
	testfiles.Write(t, filepath.Join(dir, "honest/secret.txt"), "honest")
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	states := []map[string]string{
		{"swapped.txt": "honest/secret.txt", "swapdir": "honest"},
		{"swapped.txt": filepath.Join(outside, "secret.txt"), "swapdir": outside},
		{"swapped.txt": "fifo", "swapdir": "fifo"},
	}
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() { stopped <- swap(dir, states, stop) }()
	t.Cleanup(func() {
		close(stop)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	return dir
}

// swap puts links in place, one state after the other, until stop.
func swap(dir string, states []map[string]string, stop <-chan struct{}) error {
	next, real := filepath.Join(dir, "next~"), filepath.Join(dir, "real~")
	if err := os.WriteFile(real, []byte("honest"), 0o644); err != nil {
		return err
	}
	for i := 0; ; i++ {
		for name, target := range states[i%len(states)] {
			if err := os.Symlink(target, next); err != nil {
				return err
			}
			if err := os.Rename(next, filepath.Join(dir, name)); err != nil {
				return err
			}
		}
		// Between the links a real file. It is moved and not written again,
		// because a rename of new data waits for the disk.
		if err := os.Rename(real, filepath.Join(dir, "swapped.txt")); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(dir, "swapped.txt"), real); err != nil {
			return err
		}
		select {
		case <-stop:
			return nil
		default:
		}
	}
}
