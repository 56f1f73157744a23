//go:build unix

package answers_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/answers"
)

// TestHostileFiles: what is a link, another user's, or open to others is not
// believed, nor is it written to.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	const nobody = 65534
	chown := func(t *testing.T, name string) {
		if os.Geteuid() != 0 {
			t.Skip("only root can give files away")
		}
		must(t, os.Chown(name, nobody, nobody))
	}
	move := func(t *testing.T, name string) string {
		elsewhere := filepath.Join(t.TempDir(), "elsewhere")
		must(t, os.Rename(name, elsewhere))
		return elsewhere
	}
	for name, attack := range map[string]func(*testing.T, store){
		"a link in the file's place":      func(t *testing.T, s store) { must(t, os.Symlink(move(t, s.file()), s.file())) },
		"a hard link in the file's place": func(t *testing.T, s store) { must(t, os.Link(s.file(), filepath.Join(s.dir, "other"))) },
		"a directory in the file's place": func(t *testing.T, s store) { move(t, s.file()); must(t, os.Mkdir(s.file(), 0o700)) },
		"a FIFO in the file's place":      func(t *testing.T, s store) { move(t, s.file()); must(t, syscall.Mkfifo(s.file(), 0o600)) },
		"a file that the group can write": func(t *testing.T, s store) { must(t, os.Chmod(s.file(), 0o660)) },
		"a file that all can write":       func(t *testing.T, s store) { must(t, os.Chmod(s.file(), 0o602)) },
		"a file of another user":          func(t *testing.T, s store) { chown(t, s.file()) },
		"a link in the directory's place": func(t *testing.T, s store) { must(t, os.Symlink(move(t, s.dir), s.dir)) },
		"a directory that all can write":  func(t *testing.T, s store) { must(t, os.Chmod(s.dir, 0o777)) },
		"a directory of another user":     func(t *testing.T, s store) { chown(t, s.dir) },
		"a file in the directory's place": func(t *testing.T, s store) { move(t, s.dir); must(t, os.WriteFile(s.dir, nil, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			if _, err := s.Remember(report, ""); err != nil {
				t.Fatal(err)
			}
			attack(t, s)
			if _, ok := s.Find(report); ok {
				t.Error("it is believed")
			}
			if s.log.Len() == 0 {
				t.Error("no warning")
			}
			if _, err := s.Remember(with(func(s *answers.Subject) { s.Grant = "more" }), ""); err == nil {
				t.Error("it is written to")
			}
		})
	}
}

// TestLinkedLock: the lock is never another file.
func TestLinkedLock(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	victim := filepath.Join(t.TempDir(), "victim")
	must(t, os.MkdirAll(s.dir, 0o700))
	must(t, os.Symlink(victim, filepath.Join(s.dir, "answers.json.lock")))
	if _, err := s.Remember(report, ""); err == nil {
		t.Error("a link is taken for the lock")
	}
	if _, err := os.Stat(victim); err == nil {
		t.Error("a file was made through the link")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
