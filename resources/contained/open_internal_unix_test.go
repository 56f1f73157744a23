//go:build unix

package contained

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What is put in a file's place between the look at it and the opening is
// refused without waiting for a writer.
func TestSwapBetweenLookAndOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	want := map[string]Rule{"fifo": SpecialFile, "dir": IsDirectory, "out": Escape, "gone": NotFound}
	if socket := filepath.Join(dir, "s"); len(socket) < 100 {
		listener, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		want["s"] = SpecialFile
	}
	opened, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	for name, rule := range want {
		var e *Error
		if _, _, err := opened.openSeen(name, name); !errors.As(err, &e) || e.Rule != rule {
			t.Errorf("%s gives %v, want a refusal by %s", name, err, rule)
		}
	}
}
