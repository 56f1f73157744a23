package project_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
)

// hideEnv hides .env and all directories called secret.
func hideEnv(name string) (string, bool) {
	base := path.Base(name)
	return "is hidden", base == ".env" || base == "secret"
}

func newView(t testing.TB, o project.ViewOptions) *project.View {
	t.Helper()
	if o.Hidden == nil {
		o.Hidden = hideEnv
	}
	o.Base = t.TempDir()
	view, err := project.NewView(o)
	check(t, err)
	t.Cleanup(func() {
		check(t, view.Close())
		left, err := os.ReadDir(o.Base)
		check(t, err)
		if len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	return view
}

func acquire(t testing.TB, view *project.View) *project.Lease {
	t.Helper()
	lease, err := view.Acquire(context.Background())
	check(t, err)
	t.Cleanup(lease.Release)
	return lease
}

// seen returns the paths that are in the mask of a lease, with what they are.
func seen(t testing.TB, lease *project.Lease) map[string]string {
	t.Helper()
	files := map[string]string{}
	if len(lease.Layers) == 1 {
		return files
	}
	check(t, filepath.WalkDir(lease.Layers[0], func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(lease.Layers[0], name)
		check(t, err)
		info, err := entry.Info()
		check(t, err)
		switch stat := info.Sys().(*syscall.Stat_t); {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(name)
			check(t, err)
			files[rel] = string(text)
		case info.Mode()&fs.ModeCharDevice != 0 && stat.Rdev == 0:
			files[rel] = "whiteout"
		default:
			files[rel] = info.Mode().String()
		}
		return nil
	}))
	return files
}

func wantSeen(t *testing.T, view *project.View, want map[string]string) *project.Lease {
	t.Helper()
	lease := acquire(t, view)
	if diff := cmp.Diff(want, seen(t, lease)); diff != "" {
		t.Errorf("the mask (-want +got):\n%s", diff)
	}
	return lease
}

// age makes all times in a directory older than what counts as settled.
func age(t testing.TB, dir string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	check(t, filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = os.Chtimes(name, old, old)
		}
		return err
	}))
}

func TestViewMasksWhatIsHidden(t *testing.T) {
	t.Parallel()
	dir := testfiles.Dir(t, map[string]string{
		"main.go": "package main", ".env": "KEY=1", "a/b/.env": "KEY=2", "a/b/c.txt": "", "secret/deep/key": "", "-first/.env": "", "plain/x": "",
	})
	check(t, os.Symlink("/etc", filepath.Join(dir, "link")))
	check(t, os.Symlink(".env", filepath.Join(dir, "a", "secret")))
	check(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	testfiles.Write(t, filepath.Join(dir, "odd\xff", ".env"), "")
	view := newView(t, project.ViewOptions{Dir: dir})
	lease := wantSeen(t, view, map[string]string{
		".env": "whiteout", "a/b/.env": "whiteout", "secret": "whiteout", "-first/.env": "whiteout", "a/secret": "whiteout", "odd\xff/.env": "whiteout",
	})
	if lease.Layers[1] != dir || len(lease.Masked) != 6 || lease.Masked[1].Path != ".env" || lease.Masked[0].Reason != "is hidden" {
		t.Errorf("the lease is %+v", lease)
	}
	if info, err := os.Stat(filepath.Dir(lease.Layers[0])); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the layers' directory: %v, %v", info.Mode(), err)
	}
}

func TestViewOfNothingHiddenIsTheDirectory(t *testing.T) {
	t.Parallel()
	dir := testfiles.Dir(t, map[string]string{"a/b": ""})
	view := newView(t, project.ViewOptions{Dir: dir})
	if lease := acquire(t, view); !slices.Equal(lease.Layers, []string{dir}) || lease.Masked != nil {
		t.Errorf("the lease is %+v", lease)
	}
	check(t, os.RemoveAll(filepath.Join(dir, "a")))
	if lease := acquire(t, view); !slices.Equal(lease.Layers, []string{dir}) {
		t.Errorf("the lease of an empty one is %+v", lease)
	}
}

// tick waits until the file system's clock has gone on.
func tick(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "clock")
	var first int64
	for {
		check(t, os.WriteFile(file, nil, 0o600))
		info, err := os.Stat(file)
		check(t, err)
		switch now := info.Sys().(*syscall.Stat_t).Ctim.Nano(); {
		case first == 0:
			first = now
		case now > first+int64(10*time.Millisecond): // more than a tick of any kernel
			return
		}
	}
}

// TestViewFollowsChanges: whatever happens to the directory, each lease masks
// what a new view does, with directories that are settled and ones that are not.
func TestViewFollowsChanges(t *testing.T) {
	t.Parallel()
	for _, settled := range []bool{false, true} {
		t.Run(fmt.Sprintf("settled=%v", settled), func(t *testing.T) {
			t.Parallel()
			dir := testfiles.Dir(t, map[string]string{"a/b/.env": "", "a/x": "", "c/d/e/.env": "", "f/g": "", ".git/HEAD": "", ".git/objects/x": ""})
			config := filepath.Join(dir, ".git", "config")
			testfiles.Write(t, config, "[http]\n\textraheader = A\n[core]\n\tbare = false\n")
			in := func(name string) string { return filepath.Join(dir, name) }
			view := newView(t, project.ViewOptions{Dir: dir})
			for _, step := range []struct {
				name string
				do   func() error
			}{
				{"nothing", func() error { return nil }},
				{"a new secret", func() error { return os.WriteFile(in("f/.env"), nil, 0o600) }},
				{"one goes", func() error { return os.Remove(in("a/b/.env")) }},
				{"one comes deep in a new directory", func() error { return os.MkdirAll(in("a/new/secret/x"), 0o755) }},
				{"a directory moves", func() error { return os.Rename(in("c/d"), in("moved")) }},
				{"a link takes its place", func() error { return os.Symlink("../moved", in("c/d")) }},
				{"a file takes that of a directory", func() error { return errors.Join(os.RemoveAll(in("a")), os.WriteFile(in("a"), nil, 0o600)) }},
				{"another directory takes that of one", func() error {
					return errors.Join(os.Rename(in("f"), in("g")), os.MkdirAll(in("f/secret"), 0o700), os.Rename(in("moved"), in("f/moved")))
				}},
				{"a configuration is written in place", func() error { return os.WriteFile(config, []byte("[core]\n\tbare = true\n[a]\n\ttoken = 1\n"), 0o600) }},
				{"it needs nothing", func() error { return os.WriteFile(config, []byte("[core]\n\tbare = true\n"), 0o600) }},
				{"it becomes a link", func() error { return errors.Join(os.Remove(config), os.Symlink("/etc/passwd", config)) }},
				{"everything goes", func() error {
					entries, err := os.ReadDir(dir)
					for _, entry := range entries {
						err = errors.Join(err, os.RemoveAll(in(entry.Name())))
					}
					return err
				}},
			} {
				check(t, step.do())
				if settled {
					view.SettleAtOnce()
					tick(t)
				}
				got := acquire(t, view)
				want := acquire(t, newView(t, project.ViewOptions{Dir: dir}))
				if diff := cmp.Diff(seen(t, want), seen(t, got)); diff != "" {
					t.Errorf("%s (-new view +this):\n%s", step.name, diff)
				}
				if diff := cmp.Diff(want.Masked, got.Masked); diff != "" {
					t.Errorf("%s (-new view +this):\n%s", step.name, diff)
				}
			}
		})
	}
}

// TestViewIsAsTheUsersDirectory: the directories of the mask have mode, owner and
// time of the user's, whatever these are.
func TestViewIsAsTheUsersDirectory(t *testing.T) {
	t.Parallel()
	dir := testfiles.Dir(t, map[string]string{"a/b/.env": "", "read/.env": ""})
	config := filepath.Join(dir, "a", ".git", "config")
	testfiles.Fill(t, dir, map[string]string{"a/.git/HEAD": "", "a/.git/objects/": "", "a/.git/config": "[http]\n\textraheader=1\n"})
	check(t, os.Chmod(config, 0o640))
	check(t, os.Chmod(filepath.Join(dir, "a"), 0o2750|fs.ModeSetgid))
	check(t, os.Chmod(filepath.Join(dir, "read"), 0o555))
	if os.Geteuid() == 0 {
		check(t, os.Chown(filepath.Join(dir, "a"), 1234, 2345))
		check(t, os.Chown(config, 1234, 2345))
	}
	age(t, dir)
	lease := acquire(t, newView(t, project.ViewOptions{Dir: dir}))
	for _, name := range []string{".", "a", "a/b", "a/.git", "a/.git/config", "read"} {
		want, err := os.Lstat(filepath.Join(dir, name))
		check(t, err)
		got, err := os.Lstat(filepath.Join(lease.Layers[0], name))
		check(t, err)
		w, g := want.Sys().(*syscall.Stat_t), got.Sys().(*syscall.Stat_t)
		if got.Mode() != want.Mode() || g.Uid != w.Uid || g.Gid != w.Gid || !got.ModTime().Equal(want.ModTime()) {
			t.Errorf("%s: %v %d:%d %v, want %v %d:%d %v", name, got.Mode(), g.Uid, g.Gid, got.ModTime(), want.Mode(), w.Uid, w.Gid, want.ModTime())
		}
	}
	check(t, os.Chmod(filepath.Join(dir, "read"), 0o755))
}

// What is hidden stays so where the mask was removed, in part or whole.
func TestViewMakesItsMaskAgain(t *testing.T) {
	t.Parallel()
	dir := testfiles.Dir(t, map[string]string{"deep/.env": "", "deep/file": ""})
	view := newView(t, project.ViewOptions{Dir: dir})
	for _, name := range []string{"deep/.env", "deep", "."} {
		lease := acquire(t, view)
		lease.Release()
		check(t, os.RemoveAll(filepath.Clean(lease.Layers[0]+"/"+name)))
		wantSeen(t, view, map[string]string{"deep/.env": "whiteout"}).Release()
	}
}

// TestLeasesStay: a layer that a run uses is not touched by what other runs find.
func TestLeasesStay(t *testing.T) {
	t.Parallel()
	dir := testfiles.Dir(t, map[string]string{".env": ""})
	view := newView(t, project.ViewOptions{Dir: dir})
	first := acquire(t, view)
	same := acquire(t, view)
	if same.Layers[0] != first.Layers[0] {
		t.Error("a directory that did not change has another layer")
	}
	check(t, os.Mkdir(filepath.Join(dir, "secret"), 0o755))
	second := acquire(t, view)
	if second.Layers[0] == first.Layers[0] {
		t.Fatal("a layer in use was changed")
	}
	if diff := cmp.Diff(map[string]string{".env": "whiteout"}, seen(t, first)); diff != "" {
		t.Error(diff)
	}
	first.Release()
	first.Release() // says nothing of the other lease
	if _, err := os.Lstat(first.Layers[0]); err != nil {
		t.Errorf("a layer in use is gone: %v", err)
	}
	same.Release()
	if _, err := os.Lstat(first.Layers[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a layer of no use is there: %v", err)
	}
	if _, err := os.Lstat(second.Layers[0]); err != nil {
		t.Error(err)
	}
}

func TestViewRefuses(t *testing.T) {
	t.Parallel()
	rule := func(t *testing.T, err error, want project.Rule) {
		t.Helper()
		var refusal *project.Refusal
		if !errors.As(err, &refusal) || refusal.Rule != want {
			t.Errorf("%v, want the rule %s", err, want)
		}
	}
	t.Run("too many entries", func(t *testing.T) {
		t.Parallel()
		dir := testfiles.Dir(t, map[string]string{"a/b/c": "", "d/e": "", "f": ""})
		view := newView(t, project.ViewOptions{Dir: dir, MaxEntries: 6})
		acquire(t, view).Release()
		testfiles.Write(t, filepath.Join(dir, "g"), "")
		_, err := view.Acquire(context.Background())
		rule(t, err, project.RuleTooLarge)
		check(t, os.Remove(filepath.Join(dir, "g")))
		testfiles.Write(t, filepath.Join(dir, "a", ".env"), "")
		check(t, os.Remove(filepath.Join(dir, "f")))
		wantSeen(t, view, map[string]string{"a/.env": "whiteout"})
	})
	t.Run("too long", func(t *testing.T) {
		t.Parallel()
		_, err := newView(t, project.ViewOptions{Dir: t.TempDir(), MaxTime: 1}).Acquire(context.Background())
		rule(t, err, project.RuleTooLarge)
	})
	t.Run("canceled", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := newView(t, project.ViewOptions{Dir: t.TempDir()}).Acquire(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("gone, or a link", func(t *testing.T) {
		t.Parallel()
		dir := testfiles.Dir(t, map[string]string{"a/x": ""})
		view := newView(t, project.ViewOptions{Dir: filepath.Join(dir, "a")})
		acquire(t, view).Release()
		check(t, os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b")))
		_, err := view.Acquire(context.Background())
		rule(t, err, project.RuleMissing)
		check(t, os.Symlink("b", filepath.Join(dir, "a")))
		_, err = view.Acquire(context.Background())
		rule(t, err, project.RuleMissing)
	})
}

// TestViewHidesWhatItCannotRead: nobody knows which secrets are there.
func TestViewHidesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := testfiles.Dir(t, map[string]string{"a/closed/.env": "", "a/x": ""})
	closed := filepath.Join(dir, "a", "closed")
	check(t, os.Chmod(closed, 0o311))
	view := newView(t, project.ViewOptions{Dir: dir})
	wantSeen(t, view, map[string]string{"a/closed": "whiteout"})
	check(t, os.Chmod(closed, 0o755))
	wantSeen(t, view, map[string]string{"a/closed/.env": "whiteout"})
	check(t, os.Chmod(dir, 0o311))
	defer func() { check(t, os.Chmod(dir, 0o755)) }()
	if _, err := view.Acquire(context.Background()); err == nil {
		t.Error("a directory that cannot be read is shown")
	}
}

// TestViewOfDeepDirectories: what has no path that fits is hidden.
func TestViewOfDeepDirectories(t *testing.T) {
	t.Parallel()
	dir := testfiles.Dir(t, nil)
	root, err := os.OpenRoot(dir)
	check(t, err)
	name := strings.Repeat("d", 200)
	for range 30 {
		check(t, root.Mkdir(name, 0o755))
		below, err := root.OpenRoot(name)
		check(t, err)
		check(t, root.Close())
		root = below
	}
	check(t, root.Close())
	masks := seen(t, acquire(t, newView(t, project.ViewOptions{Dir: dir})))
	if len(masks) != 1 {
		t.Errorf("the mask holds %d files", len(masks))
	}
	for name := range masks {
		if depth := strings.Count(name, "/"); depth != 14 {
			t.Errorf("masked at depth %d", depth)
		}
	}
	check(t, exec.Command("rm", "-rf", dir).Run())
}

// TestViewAsAnOverlay: the kernel makes of the layers what programs are to see.
func TestViewAsAnOverlay(t *testing.T) {
	t.Parallel()
	dir := testfiles.Dir(t, map[string]string{
		".env": "KEY=1", "src/a.txt": "text", "src/.env": "KEY=2", ".git/HEAD": "ref: refs/heads/main\n", ".git/objects/": "", ".git/refs/": "",
		".git/config": "[remote \"origin\"]\n\turl = https://user:password@example.com/x\n",
	})
	lease := acquire(t, newView(t, project.ViewOptions{Dir: dir}))
	at := t.TempDir()
	script := `mount -t overlay overlay -o userxattr,lowerdir="$1" "$2" || exit 99; cd "$2"; find . | sort; cat src/a.txt .git/config`
	command := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", strings.Join(lease.Layers, ":"), at)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Skipf("no overlay can be mounted here: %v\n%s", err, out)
	}
	want := ".\n./.git\n./.git/HEAD\n./.git/config\n./.git/objects\n./.git/refs\n./src\n./src/a.txt\ntext[remote \"origin\"]\n\turl = \"https://example.com/x\"\n"
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Errorf("programs see (-want +got):\n%s", diff)
	}
}

// BenchmarkRefresh looks at 50,000 files in 5,000 directories that did not change.
func BenchmarkRefresh(b *testing.B) {
	dir := testfiles.Dir(b, nil)
	for i := range 5000 {
		below := filepath.Join(dir, fmt.Sprint("d", i%50), fmt.Sprint("e", i/50))
		check(b, os.MkdirAll(below, 0o755))
		for j := range 10 {
			file, err := os.Create(filepath.Join(below, fmt.Sprint("file", j)))
			check(b, err)
			check(b, file.Close())
		}
	}
	testfiles.Write(b, filepath.Join(dir, ".env"), "")
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			acquire(b, newView(b, project.ViewOptions{Dir: dir})).Release()
		}
	})
	b.Run("warm", func(b *testing.B) {
		view := newView(b, project.ViewOptions{Dir: dir})
		view.SettleAtOnce()
		acquire(b, view).Release()
		for b.Loop() {
			acquire(b, view).Release()
		}
	})
}

// TestViewWhileTheUserWorks: a directory that changes all the time costs no run,
// every layer is whole while it is used, and in the end the mask is right.
func TestViewWhileTheUserWorks(t *testing.T) {
	t.Parallel()
	dir := testfiles.Dir(t, map[string]string{"kept/.env": "", "kept/x": ""})
	view := newView(t, project.ViewOptions{Dir: dir})
	done := make(chan struct{})
	var user, runs sync.WaitGroup
	user.Go(func() {
		in := func(name string) string { return filepath.Join(dir, name) }
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			name := fmt.Sprint("d", i%7)
			_ = os.MkdirAll(in(name+"/a/b/secret"), 0o755)
			_ = os.WriteFile(in(name+"/a/.env"), nil, 0o600)
			_ = os.Rename(in(name), in(fmt.Sprint("d", (i+3)%7, "/moved")))
			_ = os.Remove(in("d5"))
			_ = os.Symlink("d1", in("d5"))
			_ = os.RemoveAll(in(fmt.Sprint("d", (i+5)%7)))
		}
	})
	for range 3 {
		runs.Go(func() {
			for range 30 {
				lease, err := view.Acquire(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := os.Lstat(filepath.Join(lease.Layers[0], "kept", ".env")); err != nil {
					t.Errorf("the layer is not whole: %v", err)
				}
				lease.Release()
			}
		})
	}
	runs.Wait()
	close(done)
	user.Wait()
	want := acquire(t, newView(t, project.ViewOptions{Dir: dir}))
	if diff := cmp.Diff(seen(t, want), seen(t, acquire(t, view))); diff != "" {
		t.Errorf("the mask in the end (-new view +this):\n%s", diff)
	}
}

// TestViewOfMounts: what is mounted in the directory is hidden, since an overlay
// shows what is below it.
func TestViewOfMounts(t *testing.T) {
	t.Parallel()
	const variable = "SKILLS_MCP_TEST_MOUNTED"
	if dir := os.Getenv(variable); dir != "" { // in the namespace
		wantSeen(t, newView(t, project.ViewOptions{Dir: dir}), map[string]string{"a/mounted": "whiteout", "bound": "whiteout", "kept/.env": "whiteout"})
		return
	}
	dir := testfiles.Dir(t, map[string]string{"a/mounted/.env": "", "bound/x": "", "kept/.env": ""})
	script := `mount -t tmpfs tmpfs "$1/a/mounted" && mount --bind "$1/kept" "$1/bound" || exit 99; exec "$0" -test.run='^TestViewOfMounts$'`
	command := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, os.Args[0], dir)
	command.Env = append(os.Environ(), variable+"="+dir)
	out, err := command.CombinedOutput()
	switch {
	case command.ProcessState == nil || command.ProcessState.ExitCode() == 99 || !strings.Contains(string(out), "PASS") && !strings.Contains(string(out), "FAIL"):
		t.Skipf("nothing can be mounted here: %v\n%s", err, out)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	}
}
