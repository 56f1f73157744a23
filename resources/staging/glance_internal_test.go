package staging

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// glanceAt returns the glance at a directory as if it were looked at so much later.
func glanceAt(t *testing.T, dir string, later time.Duration) *glance {
	t.Helper()
	own, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := contained.Open(dir, contained.Options{Runnable: true})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	found, err := takeInventory(t.Context(), opened)
	if err != nil {
		t.Fatal(err)
	}
	return glanceOf(dir, own, found, time.Now().Add(later))
}

// awaitTick waits until what is written has a later time than a file.
func awaitTick(t *testing.T, file string) {
	t.Helper()
	probe := filepath.Join(t.TempDir(), "probe")
	for {
		testfiles.Write(t, probe, "")
		now, err := os.Lstat(probe)
		then, thenErr := os.Lstat(file)
		if err != nil || thenErr != nil {
			t.Fatal(err, thenErr)
		}
		if now.ModTime().After(then.ModTime()) {
			return
		}
		time.Sleep(time.Millisecond) // between two looks
	}
}

// A glance sees whatever another look would see.
func TestGlance(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no time there tells of all changes")
	}
	for name, change := range map[string]func(dir string) error{
		"nothing":     func(string) error { return nil },
		"a new file":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "a/new"), nil, 0o600) },
		"at the top":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o600) },
		"a directory": func(dir string) error { return os.Mkdir(filepath.Join(dir, "a/b/new"), 0o700) },
		"no file":     func(dir string) error { return os.Remove(filepath.Join(dir, "a/file")) },
		"a mode":      func(dir string) error { return os.Chmod(filepath.Join(dir, "a/file"), 0o755) },
		"a link":      func(dir string) error { return os.Symlink("file", filepath.Join(dir, "a/link")) },
		"another link": func(dir string) error {
			link := filepath.Join(dir, "link")
			if err := os.Remove(link); err != nil {
				return err
			}
			return os.Symlink("a/b", link)
		},
		"content with an old time": func(dir string) error {
			file := filepath.Join(dir, "a/file")
			info, err := os.Stat(file)
			if err != nil {
				return err
			}
			if err := os.WriteFile(file, []byte("2"), 0o600); err != nil {
				return err
			}
			return os.Chtimes(file, info.ModTime(), info.ModTime())
		},
		"another directory": func(dir string) error {
			if err := os.Rename(filepath.Join(dir, "a"), filepath.Join(filepath.Dir(dir), "old")); err != nil {
				return err
			}
			return os.Symlink("../old", filepath.Join(dir, "a"))
		},
		"no directory": os.RemoveAll,
	} {
		dir := filepath.Join(t.TempDir(), "skill")
		testfiles.Fill(t, dir, map[string]string{"a/file": "1", "a/b/file": "2", "file": "3"})
		if err := os.Symlink("a/file", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		if g := glanceAt(t, dir, filestat.SettleTime-time.Hour); g != nil || g.holds() {
			t.Errorf("%s: a glance at what may still change unseen", name)
		}
		g := glanceAt(t, dir, time.Hour)
		if !g.holds() {
			t.Errorf("%s: nothing changed yet", name)
		}
		awaitTick(t, filepath.Join(dir, "link"))
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		if g.holds() != (name == "nothing") {
			t.Errorf("%s: the glance holds: %v", name, g.holds())
		}
	}
}
