// Package testfiles writes the files of a test. It is for tests, those below
// integration included, and imports nothing of ours.
package testfiles

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Dir returns a new directory with these files, which is gone when the test is
// over: an absolute path without symbolic links. See [Fill] for the names.
func Dir(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	Fill(t, dir, files)
	return dir
}

// Fill writes files below a directory, with their contents by slash-separated
// path. A path that ends in a slash is a directory without content.
func Fill(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if !strings.HasSuffix(name, "/") {
			Write(t, path, text)
		} else if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// Write writes a file, and the directories above it.
func Write(t testing.TB, path, text string) {
	t.Helper()
	WriteMode(t, path, text, 0o644)
}

// WriteMode writes a file that gets these permissions if it is new, less the
// process's umask, and the directories above it. A program can be started at once.
func WriteMode(t testing.TB, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	// A child that is on its way to its own program would still have it open to
	// write, and the kernel starts none of which that is so.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// GoOn has a program go on that reads a line of a FIFO, whether it reads already or
// will. A test that has itself read it before cannot just write to it: what was
// forked meanwhile may be a reader until its exec, the only one, and then the
// line would be nobody's.
func GoOn(t testing.TB, fifo string) {
	t.Helper()
	file, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	if _, err := file.WriteString("go on\n"); err != nil {
		t.Fatal(err)
	}
}
