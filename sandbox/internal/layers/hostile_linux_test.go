package layers_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/layers"
)

func TestBounds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		plant   []string
		options layers.Options
		want    string
	}{
		"as many":        {[]string{"a=1", "b/", "b/c=1"}, layers.Options{Entries: 3}, ""},
		"one more":       {[]string{"a=1", "b/", "b/c=1"}, layers.Options{Entries: 2}, "too large for a copy: more than 2 files and directories"},
		"as large":       {[]string{"a=123", "b=4567"}, layers.Options{Bytes: 7}, ""},
		"a byte larger":  {[]string{"a=123", "b=4567"}, layers.Options{Bytes: 6}, "too large for a copy: files of more than 6 bytes"},
		"as deep":        {deep(layers.MaxDepth), layers.Options{}, ""},
		"a level deeper": {deep(layers.MaxDepth + 1), layers.Options{}, "too large for a copy: more than 64 directories deep"},
		"bounds above":   {[]string{"a=1"}, layers.Options{Entries: 1 << 40, Bytes: 1 << 60}, ""},
		"hidden is not":  {[]string{"a=1", "h/b=123", "h/c=1"}, layers.Options{Entries: 1, Bytes: 1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWorkbench(t)
			plant(t, b.user, test.plant...)
			plant(t, b.mask, "h-")
			_, err := layers.Merge(t.Context(), b.share, b.copy, test.options)
			if test.want == "" && err != nil || test.want != "" && (!errors.Is(err, layers.ErrTooLarge) || err.Error() != test.want) {
				t.Errorf("error is %v, want %q", err, test.want)
			}
			if left, _ := os.ReadDir(b.copy); test.want != "" && len(left) > 0 {
				t.Errorf("%d files were copied", len(left))
			}
		})
	}
}

// A sparse file is as large as it says, and takes no room in the copy nor, what a
// program makes of it, among the changes.
func TestHoles(t *testing.T) {
	t.Parallel()
	b := newWorkbench(t)
	sparse := func(path string) {
		file, err := os.Create(path)
		check(t, err)
		_, err = file.WriteAt([]byte("end"), 1<<28)
		check(t, errors.Join(err, file.Truncate(1<<28+100), file.Close()))
	}
	expectSparse := func(path string) {
		t.Helper()
		info, err := os.Stat(path)
		check(t, err)
		if used := info.Sys().(*syscall.Stat_t).Blocks * 512; info.Size() != 1<<28+100 || used > 1<<20 {
			t.Errorf("it has %d bytes on %d of the disk", info.Size(), used)
		}
		file, err := os.Open(path)
		check(t, err)
		defer file.Close()
		content := make([]byte, 5)
		if _, err := file.ReadAt(content, 1<<28-1); err != nil || string(content) != "\x00end\x00" {
			t.Errorf("it holds %q, %v", content, err)
		}
	}
	sparse(filepath.Join(b.user, "sparse"))
	made := b.merge(t, layers.Options{})
	expectSparse(filepath.Join(b.copy, "sparse"))
	sparse(filepath.Join(b.copy, "new"))
	b.store(t, made)
	expectSparse(filepath.Join(b.upper, "new"))
}

// What cannot or must not be copied is left out and counted, whoever has it.
func TestOmitted(t *testing.T) {
	t.Parallel()
	b := newWorkbench(t)
	plant(t, b.user, "a=1", "d/b=1")
	check(t, errors.Join(
		unix.Mkfifo(filepath.Join(b.user, "fifo"), 0o666),
		unix.Mkfifo(filepath.Join(b.user, "d/fifo"), 0o666),
		unix.Mknod(filepath.Join(b.user, "socket"), unix.S_IFSOCK|0o666, 0)))
	want, omitted := []string{"a=1", "d/", "d/b=1"}, 3
	if os.Geteuid() != 0 {
		plant(t, b.user, "closed=1 0200", "locked/x=1", "locked/ 0000", "listed/x=1", "listed/ 0400", "passed/x=1", "passed/ 0100")
		want, omitted = append(want, "listed/ 0400"), omitted+3
	}
	made := b.merge(t, layers.Options{})
	expect(t, "the copy", b.copy, want...)
	if made.Omitted() != omitted {
		t.Errorf("omitted are %d, want %d", made.Omitted(), omitted)
	}
	b.store(t, made)
	expect(t, "upper", b.upper)
}

// The user's files may become anything while they are copied: links to what is
// elsewhere, FIFOs, nothing at all, longer.
func TestMergeWhileFilesChange(t *testing.T) {
	t.Parallel()
	b := newWorkbench(t)
	plant(t, filepath.Dir(b.user), "outside/x=secret", "outside/d/x=secret")
	outside := filepath.Join(filepath.Dir(b.user), "outside")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			for _, name := range []string{"x", "d"} {
				path := filepath.Join(b.user, name)
				_ = os.RemoveAll(path)
				switch i % 6 {
				case 0:
					_ = os.WriteFile(path, bytes.Repeat([]byte("ok"), i%5000), 0o644)
				case 1:
					_ = os.Symlink(filepath.Join(outside, name), path)
				case 2:
					_ = os.MkdirAll(filepath.Join(path, "d"), 0o755)
					_ = os.WriteFile(filepath.Join(path, "x"), []byte("ok"), 0o644)
				case 3:
					_ = unix.Mkfifo(path, 0o666)
				case 4:
					_ = os.Symlink(outside, path)
				}
			}
		}
	}()
	var last *layers.Manifest
	for range 300 {
		made, err := layers.Merge(t.Context(), b.share, b.copy, layers.Options{Last: last})
		check(t, err)
		last = made
		check(t, filepath.WalkDir(b.copy, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			if strings.Contains(string(content), "secret") {
				t.Fatalf("%s is what is elsewhere", path)
			}
			return err
		}))
	}
	close(stop)
	<-stopped
}

// What programs leave in the place of directories is not followed, neither when
// it is stored nor when the copy is brought up to date.
func TestLinksInPlaceOfDirectories(t *testing.T) {
	t.Parallel()
	b := newWorkbench(t)
	plant(t, b.user, "d/e/x=1", "d/y=2", "f=3")
	outside := filepath.Join(filepath.Dir(b.copy), "outside")
	plant(t, outside, "e/x=secret", "y=secret", "more=secret")
	before := list(t, outside)
	made := b.merge(t, layers.Options{})
	replace := func() {
		check(t, errors.Join(os.RemoveAll(filepath.Join(b.copy, "d")), os.Symlink(outside, filepath.Join(b.copy, "d"))))
	}
	replace()
	b.store(t, made)
	expect(t, "upper", b.upper, "d>"+outside)
	check(t, os.Remove(filepath.Join(b.upper, "d")))
	made = b.merge(t, layers.Options{Last: made})
	expect(t, "the copy", b.copy, "d/", "d/e/", "d/e/x=1", "d/y=2", "f=3")
	replace()
	b.merge(t, layers.Options{Last: made})
	expect(t, "the copy again", b.copy, "d/", "d/e/", "d/e/x=1", "d/y=2", "f=3")
	// The same in upper, where programs of another backend may have left it.
	check(t, os.Symlink(outside, filepath.Join(b.upper, "d")))
	made = b.merge(t, layers.Options{})
	check(t, os.Remove(filepath.Join(b.copy, "d")))
	plant(t, b.copy, "d/y=4")
	b.store(t, made)
	expect(t, "upper at last", b.upper, "d/!", "d/y=4")
	expect(t, "what is elsewhere", outside, before...)
}

// A copy that is brought up to date is what a new one would be, whoever changed
// what, and files that nobody changed are not copied again.
func TestMergeAgain(t *testing.T) {
	t.Parallel()
	b := newWorkbench(t)
	plant(t, b.user, "same=1", "users=1", "d/deep/same=1", "programs=1", "gone=1", "hidden=1", "forged=1")
	old := time.Now().Add(-time.Hour)
	inode := func(name string) uint64 {
		var stat unix.Stat_t
		check(t, unix.Lstat(filepath.Join(b.copy, name), &stat))
		return stat.Ino
	}
	made := b.merge(t, layers.Options{})
	waitSettled(t, b, filepath.Join(b.user, "same"))
	made = b.merge(t, layers.Options{Last: made}) // until now what was read was too new
	same, deep := inode("same"), inode("d/deep/same")
	plant(t, b.copy, "programs=2", "new/x=2", "d/deep/more=1")
	forged("forged", "2")(t, b.copy)
	b.store(t, made)
	plant(t, b.user, "users=2", "added=1")
	check(t, errors.Join(os.Remove(filepath.Join(b.user, "gone")), os.Chtimes(filepath.Join(b.user, "users"), old, old)))
	plant(t, b.mask, "hidden-")
	plant(t, b.copy, "left=1", "users=3", "new/x=3")
	made = b.merge(t, layers.Options{Last: made})
	expect(t, "the copy", b.copy, "same=1", "users=2", "d/", "d/deep/", "d/deep/same=1", "d/deep/more=1", "programs=2", "forged=2", "added=1", "new/", "new/x=2")
	if inode("same") != same || inode("d/deep/same") != deep {
		t.Error("what is the same was copied again")
	}
	b.store(t, made)
	expect(t, "upper", b.upper, "programs=2", "forged=2", "new/", "new/x=2", "d/", "d/deep/", "d/deep/more=1")
}

// waitSettled waits until the time stamps of what the user has tell all.
func waitSettled(t testing.TB, b *workbench, newest string) {
	t.Helper()
	probe := filepath.Join(filepath.Dir(b.copy), "probe")
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		check(t, os.WriteFile(probe, nil, 0o600))
		info, err := os.Stat(probe)
		check(t, err)
		last, err := os.Lstat(newest)
		check(t, err)
		if info.ModTime().Sub(last.ModTime()) > 2500*time.Millisecond {
			return
		}
		if time.Since(begun) > time.Minute {
			t.Fatal("the clock does not go on")
		}
	}
}

func TestMergeIsCanceled(t *testing.T) {
	t.Parallel()
	b := newWorkbench(t)
	plant(t, b.user, "a=1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := layers.Merge(ctx, b.share, b.copy, layers.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(b *workbench) error{
		"no user's directory": func(b *workbench) error { return os.Remove(b.user) },
		"a link to it":        func(b *workbench) error { return errors.Join(os.Remove(b.user), os.Symlink("/", b.user)) },
		"a file":              func(b *workbench) error { return errors.Join(os.Remove(b.user), os.WriteFile(b.user, nil, 0o644)) },
		"a link above it": func(b *workbench) error {
			above := b.user + "-above"
			b.share.Layers[len(b.share.Layers)-1] = filepath.Join(above, filepath.Base(b.user))
			return os.Symlink(filepath.Dir(b.user), above)
		},
		"no copy":          func(b *workbench) error { return os.Remove(b.copy) },
		"a link to a copy": func(b *workbench) error { return errors.Join(os.Remove(b.copy), os.Symlink(b.user, b.copy)) },
		"no upper":         func(b *workbench) error { return os.Remove(b.upper) },
		"no changes":       func(b *workbench) error { return os.RemoveAll(b.share.Changes) },
		"a link to upper":  func(b *workbench) error { return errors.Join(os.Remove(b.upper), os.Symlink(b.user, b.upper)) },
	} {
		b := newWorkbench(t)
		check(t, spoil(b))
		_, err := layers.Merge(t.Context(), b.share, b.copy, layers.Options{})
		if noChanges := strings.HasSuffix(name, "upper") || strings.HasSuffix(name, "changes"); err == nil || noChanges && !errors.Is(err, layers.ErrNoChanges) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	b := newWorkbench(t)
	b.share.Access = sandbox.AccessRead
	check(t, os.RemoveAll(b.share.Changes))
	b.merge(t, layers.Options{}) // who may read alone needs no place for changes
}

// Where the server is root, a copy is that of the user who runs programs, and
// what comes back is the project's owner's.
func TestOwners(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("not root")
	}
	const owner, other, nobody = 1234, 1235, 65534
	b := newWorkbench(t)
	plant(t, b.user, "a=1", "d/b=1", "l>a")
	check(t, errors.Join(os.Chown(b.user, owner, owner), os.Chown(filepath.Join(b.user, "a"), other, other), os.Chown(filepath.Join(b.user, "d"), other, other)))
	made := b.merge(t, layers.Options{User: nobody})
	expectOwners(t, b.copy, map[string]uint32{".": nobody, "a": nobody, "d": nobody, "d/b": nobody, "l": nobody})
	check(t, os.RemoveAll(filepath.Join(b.copy, "l")))
	plant(t, b.copy, "a=2", "d/c=2", "n/m=1", "l>d")
	check(t, os.Chown(filepath.Join(b.copy, "n"), nobody, nobody))
	b.store(t, made)
	expectOwners(t, b.upper, map[string]uint32{"a": other, "d": other, "d/c": owner, "n": owner, "n/m": owner, "l": 0})
}

func expectOwners(t *testing.T, dir string, want map[string]uint32) {
	t.Helper()
	for name, owner := range want {
		info, err := os.Lstat(filepath.Join(dir, name))
		check(t, err)
		if stat := info.Sys().(*syscall.Stat_t); stat.Uid != owner || stat.Gid != owner {
			t.Errorf("%s is of %d:%d, want %d", name, stat.Uid, stat.Gid, owner)
		}
	}
}

// A disk that gets full in the middle leaves what is whole and nothing else.
func TestStoreOnFullDisk(t *testing.T) {
	if !inNamespaces(t) {
		return
	}
	b := newWorkbench(t)
	if err := unix.Mount("tmpfs", b.share.Changes, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip(err)
	}
	defer unix.Unmount(b.share.Changes, unix.MNT_DETACH)
	check(t, errors.Join(os.Mkdir(b.upper, 0o755), os.Mkdir(filepath.Join(b.share.Changes, sandbox.WorkDir), 0o700)))
	if err := unix.Setxattr(b.upper, "user.overlay.x", []byte("y"), 0); err != nil {
		t.Skip(err) // such a file system would not be taken
	}
	plant(t, b.user, "0=old")
	made := b.merge(t, layers.Options{})
	content := strings.Repeat("x", 100<<10)
	for i := range 20 {
		plant(t, b.copy, strconv.Itoa(i)+"="+content)
	}
	lost, err := layers.Store(b.share, b.copy, made)
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("lost %+v, %v", lost, err)
	}
	held := list(t, b.upper)
	if len(held) == 0 || len(held) > 10 {
		t.Errorf("%d files are held", len(held))
	}
	for _, line := range held {
		if _, got, _ := strings.Cut(line, "="); got != content {
			t.Errorf("%.10s has %d bytes", line, len(got))
		}
	}
	if left, err := os.ReadDir(filepath.Join(b.share.Changes, sandbox.WorkDir)); err != nil || len(left) > 0 {
		t.Errorf("in the work directory are %v, %v", left, err)
	}
	expect(t, "the user's own", b.user, "0=old")
}

// What is mounted in a share belongs to somebody else.
func TestMountsInShares(t *testing.T) {
	if !inNamespaces(t) {
		return
	}
	b := newWorkbench(t)
	plant(t, b.user, "a=1", "mounted/")
	if err := unix.Mount("tmpfs", filepath.Join(b.user, "mounted"), "tmpfs", 0, "size=1m"); err != nil {
		t.Skip(err)
	}
	defer unix.Unmount(filepath.Join(b.user, "mounted"), unix.MNT_DETACH)
	plant(t, b.user, "mounted/secret=1")
	made := b.merge(t, layers.Options{})
	expect(t, "the copy", b.copy, "a=1")
	if made.Omitted() != 1 {
		t.Errorf("omitted are %d", made.Omitted())
	}
}

// Shares that are different are copied at the same time.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	user := t.TempDir()
	plant(t, user, "a=1", "d/b=2")
	var all sync.WaitGroup
	for i := range 8 {
		b := newWorkbench(t)
		b.share.Layers[1] = user
		all.Go(func() {
			made, err := layers.Merge(context.Background(), b.share, b.copy, layers.Options{})
			if err == nil {
				err = os.WriteFile(filepath.Join(b.copy, "d", strconv.Itoa(i)), nil, 0o644)
			}
			if err == nil {
				_, err = layers.Store(b.share, b.copy, made)
			}
			if err != nil {
				t.Error(err)
			}
		})
		defer func() { expect(t, "upper", b.upper, "d/", "d/"+strconv.Itoa(i)+"=") }()
	}
	all.Wait()
}
