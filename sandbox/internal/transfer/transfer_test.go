package transfer_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/transfer"
)

// open opens a directory until the end of the test.
func open(t testing.TB, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// carry carries all that one directory holds to another.
func carry(t *testing.T, from, to *os.Root, bounds transfer.Bounds) (skipped int) {
	t.Helper()
	var stream bytes.Buffer
	if err := transfer.List(from).Send(&stream, from); err != nil {
		t.Fatal(err)
	}
	return receive(t, stream.Bytes(), to, bounds)
}

func receive(t *testing.T, stream []byte, to *os.Root, bounds transfer.Bounds) (skipped int) {
	t.Helper()
	reader := bufio.NewReader(bytes.NewReader(append(stream, "behind"...)))
	skipped, err := transfer.Receive(reader, to, bounds)
	if err != nil {
		t.Fatal(err)
	}
	if rest, _ := reader.Peek(6); string(rest) != "behind" {
		t.Errorf("behind the end is %q", rest)
	}
	return skipped
}

// describe lists what a directory holds, in a form to be compared.
func describe(t testing.TB, dir string) (lines []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, file)
		line := fmt.Sprintf("%q %v", name, info.Mode())
		switch info.Mode().Type() {
		case fs.ModeSymlink:
			target, err := os.Readlink(file)
			if err != nil {
				return err
			}
			line += " to " + target
		case 0:
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %v %d %.20q", info.ModTime().UnixNano(), len(content), content)
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// fill makes one of everything that is carried.
func fill(t *testing.T, dir string) {
	t.Helper()
	in := func(name string) string { return filepath.Join(dir, name) }
	must(t,
		os.MkdirAll(in("dir/below"), 0o750), os.Mkdir(in("empty"), 0o700), os.Mkdir(in("unwritable"), 0o700),
		os.WriteFile(in("dir/below/text"), []byte("text"), 0o600),
		os.WriteFile(in("dir/program"), []byte("#!/bin/sh\n"), 0o755),
		os.WriteFile(in("unwritable/file"), nil, 0o400),
		os.WriteFile(in("größe ☃"), bytes.Repeat([]byte("0123456789"), 100_000), 0o640),
		os.WriteFile(in("old"), []byte("old"), 0o644),
		os.Chtimes(in("old"), time.Time{}, time.Unix(1, 2)),
	)
	if runtime.GOOS == "windows" {
		return
	}
	must(t,
		os.WriteFile(in("two\nlines"), nil, 0o644), os.WriteFile(in("not UTF-8 \xff"), nil, 0o644),
		os.WriteFile(in("sparse"), []byte("head"), 0o644), os.Truncate(in("sparse"), 1<<20),
		os.Symlink("dir/below", in("link")), os.Symlink("/etc/passwd", in("link out")), os.Symlink("..", in("dir/up")),
		os.Link(in("old"), in("zzz")), os.Chmod(in("unwritable"), 0o500),
	)
	t.Cleanup(func() { os.Chmod(in("unwritable"), 0o700) })
}

func TestWhole(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	fill(t, from)
	t.Cleanup(func() { os.Chmod(filepath.Join(to, "unwritable"), 0o700) })
	// Again, over what is there: also where a directory may not be written.
	for range 2 {
		if skipped := carry(t, open(t, from), open(t, to), transfer.Bounds{}); skipped != 0 {
			t.Errorf("%d skipped", skipped)
		}
		if diff := cmp.Diff(describe(t, from), describe(t, to)); diff != "" {
			t.Errorf("(-sent +received):\n%s", diff)
		}
	}
}

// changes are what programs do to a workspace. Each is done to a directory
// filled by fill.
var changes = map[string]func(in func(string) string) error{
	"nothing":        func(func(string) string) error { return nil },
	"a new file":     func(in func(string) string) error { return os.WriteFile(in("new"), []byte("new"), 0o600) },
	"new directory":  func(in func(string) string) error { return os.MkdirAll(in("new/deep/er"), 0o711) },
	"appended":       func(in func(string) string) error { return appendTo(in("old")) },
	"same size":      func(in func(string) string) error { return os.WriteFile(in("dir/below/text"), []byte("tixt"), 0) },
	"mode":           func(in func(string) string) error { return os.Chmod(in("dir/program"), 0o700) },
	"directory mode": func(in func(string) string) error { return os.Chmod(in("dir"), 0o711) },
	"time":           func(in func(string) string) error { return os.Chtimes(in("old"), time.Time{}, time.Unix(3, 4)) },
	"times are put back": func(in func(string) string) error {
		info, err := os.Stat(in("dir/below/text"))
		if err != nil {
			return err
		}
		return errors.Join(os.WriteFile(in("dir/below/text"), []byte("tuxt"), 0), os.Chtimes(in("dir/below/text"), time.Time{}, info.ModTime()))
	},
	"removed": func(in func(string) string) error { return os.RemoveAll(in("dir")) },
	"renamed": func(in func(string) string) error { return os.Rename(in("dir"), in("other")) },
	"a file for a directory": func(in func(string) string) error {
		return errors.Join(os.RemoveAll(in("dir")), os.WriteFile(in("dir"), nil, 0o600))
	},
	"a directory for a file": func(in func(string) string) error {
		return errors.Join(os.Remove(in("old")), os.MkdirAll(in("old/x"), 0o755))
	},
	"a link for a directory": func(in func(string) string) error {
		return errors.Join(os.RemoveAll(in("dir")), os.Symlink("empty", in("dir")))
	},
	"a directory for a link": func(in func(string) string) error {
		return errors.Join(os.Remove(in("link")), os.Mkdir(in("link"), 0o755), os.WriteFile(in("link/text"), []byte("x"), 0o600))
	},
	"link": func(in func(string) string) error {
		return errors.Join(os.Remove(in("link")), os.Symlink("empty", in("link")))
	},
	"a file in a directory that is not writable": func(in func(string) string) error {
		return errors.Join(os.Chmod(in("unwritable"), 0o700), os.Remove(in("unwritable/file")),
			os.WriteFile(in("unwritable/new"), nil, 0o600), os.Chmod(in("unwritable"), 0o500))
	},
	"a file that nobody may read": func(in func(string) string) error { return os.WriteFile(in("closed"), []byte("closed"), 0) },
	"a directory that nobody may enter": func(in func(string) string) error {
		return errors.Join(os.Mkdir(in("closed"), 0o700), os.WriteFile(in("closed/file"), []byte("x"), 0o600), os.Chmod(in("closed"), 0))
	},
	"one name of two": func(in func(string) string) error { return os.Remove(in("old")) },
	"two files of one": func(in func(string) string) error {
		return errors.Join(os.Remove(in("old")), os.WriteFile(in("old"), []byte("old"), 0o644))
	},
	"one more name": func(in func(string) string) error { return os.Link(in("zzz"), in("aaa")) },
	"everything":    func(in func(string) string) error { return removeAll(in(".")) },
	"replaced by the same file": func(in func(string) string) error {
		return errors.Join(os.WriteFile(in("t"), []byte("text"), 0o600), os.Rename(in("t"), in("dir/below/text")))
	},
}

func appendTo(name string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("more")
	return errors.Join(err, f.Close())
}

func removeAll(dir string) error {
	unlock(dir)
	list, err := os.ReadDir(dir)
	for _, entry := range list {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
	}
	return err
}

// unlock opens directories so that the test can look and tidy up.
func unlock(dir string) {
	filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			os.Chmod(file, 0o700)
		}
		return nil
	})
}

func TestChanges(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the changes are of POSIX")
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here, there := t.TempDir(), t.TempDir()
			t.Cleanup(func() { unlock(here); unlock(there) })
			fill(t, here)
			carry(t, open(t, here), open(t, there), transfer.Bounds{})
			sent := transfer.List(open(t, here))
			before := transfer.ListWhole(open(t, there))
			must(t, os.Chmod(filepath.Join(there, "unwritable"), 0o500))
			must(t, change(func(name string) string { return filepath.Join(there, name) }))
			want := describeLocked(t, there)
			var stream bytes.Buffer
			must(t, transfer.ListWhole(open(t, there)).SendChanges(&stream, open(t, there), before))
			if skipped := receive(t, stream.Bytes(), open(t, here), transfer.Bounds{Removable: sent.Has}); skipped != 0 {
				t.Errorf("%d skipped", skipped)
			}
			if diff := cmp.Diff(want, describeLocked(t, here)); diff != "" {
				t.Errorf("(-there +here):\n%s", diff)
			}
			var empty bytes.Buffer
			must(t, new(transfer.Snapshot).Send(&empty, nil))
			if size := stream.Len(); name == "nothing" && size > empty.Len() {
				t.Errorf("nothing takes %d bytes", size)
			}
		})
	}
}

// describeLocked is describe for a directory that may keep its owner out; it
// returns the modes before that changes.
func describeLocked(t *testing.T, dir string) []string {
	t.Helper()
	locked := make(map[string]fs.FileMode)
	filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if entry == nil || entry.Type()&fs.ModeSymlink != 0 {
			return nil
		}
		if info, err := os.Lstat(file); err == nil && info.Mode()&0o400 == 0 {
			locked[file] = info.Mode().Perm()
			os.Chmod(file, info.Mode().Perm()|0o700)
		}
		return nil
	})
	lines := describe(t, dir)
	for file, mode := range locked {
		lines = append(lines, fmt.Sprintf("%s is %v", strings.TrimPrefix(file, dir), mode))
		must(t, os.Chmod(file, mode))
	}
	return lines
}

// What others did meanwhile stays, where the changes do not say otherwise.
func TestOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	here, there := t.TempDir(), t.TempDir()
	must(t, os.MkdirAll(filepath.Join(here, "dir"), 0o755), os.MkdirAll(filepath.Join(here, "gone"), 0o755),
		os.WriteFile(filepath.Join(here, "dir/file"), nil, 0o644), os.WriteFile(filepath.Join(here, "both"), nil, 0o644))
	carry(t, open(t, here), open(t, there), transfer.Bounds{})
	sent, before := transfer.List(open(t, here)), transfer.ListWhole(open(t, there))
	must(t, removeAll(there), os.WriteFile(filepath.Join(there, "dir"), nil, 0o644))
	must(t, os.WriteFile(filepath.Join(here, "dir/others"), nil, 0o644), os.WriteFile(filepath.Join(here, "others"), nil, 0o644),
		os.Remove(filepath.Join(here, "both")))
	var stream bytes.Buffer
	must(t, transfer.ListWhole(open(t, there)).SendChanges(&stream, open(t, there), before))
	if skipped := receive(t, stream.Bytes(), open(t, here), transfer.Bounds{Removable: sent.Has}); skipped != 1 {
		t.Errorf("%d skipped, want the one file for a directory that is not empty", skipped)
	}
	var names []string
	for _, line := range describe(t, here) {
		names = append(names, strings.Fields(line)[0])
	}
	if diff := cmp.Diff([]string{`"dir"`, `"dir/others"`, `"others"`}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadable(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	from, to := t.TempDir(), t.TempDir()
	must(t, os.Mkdir(filepath.Join(from, "dir"), 0o700), os.WriteFile(filepath.Join(from, "dir/program"), nil, 0o700),
		os.WriteFile(filepath.Join(from, "writable"), nil, 0o666))
	carry(t, open(t, from), open(t, to), transfer.Bounds{Readable: true})
	for name, want := range map[string]fs.FileMode{"dir": 0o755, "dir/program": 0o755, "writable": 0o644} {
		if info, err := os.Stat(filepath.Join(to, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// What was opened to be looked at can be closed again, and counts as unchanged.
func TestModesAreRestored(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	dir := t.TempDir()
	modes := map[string]fs.FileMode{"locked/below": 0o500, "locked/file": 0o200, "locked": 0o100, "open": 0o755}
	must(t, os.MkdirAll(filepath.Join(dir, "locked/below"), 0o700))
	must(t, os.Mkdir(filepath.Join(dir, "open"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "locked/file"), []byte("text"), 0o600))
	for _, name := range []string{"locked/below", "locked/file", "locked", "open"} {
		must(t, os.Chmod(filepath.Join(dir, name), modes[name]))
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "locked"), 0o700) })
	root := open(t, dir)
	before := transfer.ListWhole(root)
	must(t, before.Restore(root))
	info, err := root.Stat("locked")
	if err != nil || info.Mode().Perm() != modes["locked"] {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	var nothing, stream bytes.Buffer
	after := transfer.ListWhole(root)
	must(t, after.SendChanges(&stream, root, before))
	must(t, after.Restore(root))
	must(t, new(transfer.Snapshot).Send(&nothing, nil))
	if !bytes.Equal(stream.Bytes(), nothing.Bytes()) {
		t.Errorf("%d bytes are sent where nothing has changed", stream.Len())
	}
	must(t, os.Chmod(filepath.Join(dir, "locked"), 0o700))
	for _, name := range []string{"locked/below", "locked/file", "open"} {
		if info, err := root.Stat(name); err != nil || info.Mode().Perm() != modes[name] {
			t.Errorf("the mode of %s is %v, %v", name, info.Mode(), err)
		}
	}
}
