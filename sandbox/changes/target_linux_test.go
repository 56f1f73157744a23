package changes_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

func TestTargetIsNotWhatItWas(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do   func(project string) error
		want error
	}{
		"gone":     {os.RemoveAll, changes.ErrTargetGone},
		"moved":    {func(p string) error { return os.Rename(p, p+"-moved") }, changes.ErrTargetGone},
		"replaced": {func(p string) error { return errors.Join(os.Rename(p, p+"-moved"), os.Mkdir(p, 0o755)) }, changes.ErrTargetReplaced},
		"a link": {func(p string) error {
			return errors.Join(os.Rename(p, p+"-moved"), os.Symlink(p+"-moved", p))
		}, changes.ErrTargetReplaced},
		"a file": {func(p string) error {
			return errors.Join(os.Rename(p, p+"-moved"), os.WriteFile(p, nil, 0o644))
		}, changes.ErrTargetReplaced},
		"below a link": {func(p string) error {
			dir := filepath.Dir(p)
			return errors.Join(os.Rename(dir, dir+"-moved"), os.Symlink(dir+"-moved", dir))
		}, changes.ErrTargetReplaced},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent := testfiles.Dir(t, nil)
			f := &fixture{t: t, project: filepath.Join(parent, "in", "project"), state: filepath.Join(testfiles.Dir(t, nil), "state")}
			testfiles.Fill(t, f.project, map[string]string{"a": "old"})
			f.open(changes.Options{})
			var err error
			if f.set, err = f.store.New(changes.Target{Path: f.project}); err != nil {
				t.Fatal(err)
			}
			defer f.set.Close()
			f.run(func(u upper) { u.write("a", "new"); u.write("b", "new") })
			held := f.held()
			applied, err := f.set.Apply(t.Context(), held.ID, []string{"b"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			held = applied.Remaining
			if err := test.do(f.project); err != nil {
				t.Fatal(err)
			}
			if _, err := f.set.Apply(t.Context(), held.ID, nil, nil); !errors.Is(err, test.want) {
				t.Errorf("apply: %v", err)
			}
			if _, err := f.store.Undo(t.Context(), applied.Undo); !errors.Is(err, test.want) {
				t.Errorf("undo: %v", err)
			}
			if got := f.held(); got.ID != held.ID {
				t.Errorf("held before: %q, and now: %q", summary(held), summary(got))
			}
			if got, err := f.set.Discard(t.Context(), held.ID, nil, nil); err != nil || !got.Empty() {
				t.Errorf("discard: %v, %q", err, summary(got))
			}
		})
	}
}

func TestTargetCannotBeUsed(t *testing.T) {
	t.Parallel()
	f := setUp(t, map[string]string{"file": "", "dir/": ""})
	if err := os.Symlink("dir", filepath.Join(f.project, "link")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"nothing": changes.ErrTargetGone, "file": changes.ErrTargetReplaced, "link": changes.ErrTargetReplaced, "file/x": changes.ErrTargetGone,
	} {
		if _, err := f.store.New(changes.Target{Path: filepath.Join(f.project, name)}); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One file that cannot be written does not keep the others from being.
func TestWhatCannotBeWrittenIsRefused(t *testing.T) {
	t.Parallel()
	f := setUp(t, map[string]string{"closed/a": "old", "closed/b": "old", "open/a": "old", "gone/x": "", "moved/x": ""})
	f.run(func(u upper) {
		u.write("closed/a", "new")
		u.whiteout("closed/b")
		u.write("closed/c", "new")
		u.write("open/a", "new")
		u.write("gone/new", "new")
		u.write("moved/new", "new")
	})
	closed := filepath.Join(f.project, "closed")
	u := f.upper()
	u.check(os.Chmod(closed, 0o555), os.RemoveAll(filepath.Join(f.project, "gone")),
		os.Rename(filepath.Join(f.project, "moved"), filepath.Join(f.project, "elsewhere")), os.Symlink("elsewhere", filepath.Join(f.project, "moved")))
	t.Cleanup(func() {
		for _, dir := range []string{f.project, f.upper().dir} {
			_ = os.Chmod(filepath.Join(dir, "closed"), 0o755)
		}
	})
	got := lines(f.apply())
	reason := "its directory is read-only"
	want(t, "outcome", got,
		"conflict gone/new: its directory is not there any more", "conflict moved/new: it is below a symbolic link", "modified open/a",
		"refused closed/a: "+reason, "refused closed/b: "+reason, "refused closed/c: "+reason)
	want(t, "project", tree(t, f.project),
		"dr-xr-xr-x closed ", `-rw-r--r-- closed/a "old"`, `-rw-r--r-- closed/b "old"`, "drwxr-xr-x elsewhere ", `-rw-r--r-- elsewhere/x ""`,
		"Lrwxrwxrwx moved elsewhere", "drwxr-xr-x open ", `-rw-r--r-- open/a "new"`)
}

func TestFileSystems(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root mounts file systems")
	}
	mount := func(t *testing.T, options string, flags uintptr) *fixture {
		t.Helper()
		f := setUp(t, map[string]string{"m/": "", "a": "old"})
		at := filepath.Join(f.project, "m")
		if err := unix.Mount("tmpfs", at, "tmpfs", flags, options); err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
		return f
	}
	t.Run("another one inside", func(t *testing.T) {
		t.Parallel()
		f := mount(t, "", 0)
		f.run(func(u upper) { u.write("m/new", "x"); u.write("a", "new") })
		want(t, "outcome", lines(f.apply()), "conflict m/new: it is on another file system", "conflict m: it is on another file system", "modified a")
	})
	t.Run("a full one", func(t *testing.T) {
		t.Parallel()
		f := mount(t, "size=64k", 0)
		project := filepath.Join(f.project, "m")
		testfiles.Fill(t, project, map[string]string{"a": "old", "b": strings.Repeat("x", 30_000)})
		set, err := f.store.New(changes.Target{Path: project})
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		f.set, f.project = set, project
		before := tree(t, project)
		f.run(func(u upper) { u.write("a", strings.Repeat("y", 60_000)); u.write("c", "small") })
		want(t, "outcome", lines(f.apply()), "added c", "refused a: there is no space left on the disk")
		want(t, "project", tree(t, project), append(before, `-rw-r--r-- c "small"`)...)
	})
	t.Run("a read-only one", func(t *testing.T) {
		t.Parallel()
		f := mount(t, "", 0)
		project := filepath.Join(f.project, "m")
		testfiles.Fill(t, project, map[string]string{"a": "old"})
		set, err := f.store.New(changes.Target{Path: project})
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		f.set, f.project = set, project
		f.run(func(u upper) { u.write("a", "new"); u.write("b", "new"); u.writeMode("a2", "", 0o600) })
		if err := unix.Mount("", project, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
		const readOnly = "the file system is read-only"
		want(t, "outcome", lines(f.apply()), "refused a2: "+readOnly, "refused a: "+readOnly, "refused b: "+readOnly)
		want(t, "project", tree(t, project), `-rw-r--r-- a "old"`)
	})
}

// What a file has besides its content stays, as far as it can.
func TestAttributesStay(t *testing.T) {
	// It sets the umask of the process.
	f := setUp(t, map[string]string{"a": "old", "shared": "old", "chmod": "x"})
	at := func(name string) string { return filepath.Join(f.project, name) }
	u := f.upper()
	u.check(unix.Setxattr(at("a"), "user.note", []byte("kept"), 0), os.Chmod(at("a"), 0o640),
		os.Link(at("shared"), at("other-name")), os.Link(at("chmod"), at("chmod-too")))
	if os.Geteuid() == 0 {
		u.check(os.Chown(at("a"), 65534, 65534))
	}
	f.run(func(u upper) {
		u.writeMode("a", "new", 0o640)
		u.write("shared", "new")
		u.writeMode("chmod", "x", 0o755)
	})
	old := syscall.Umask(0o077)
	outcome := f.apply()
	syscall.Umask(old)
	want(t, "outcome", lines(outcome), "modified a", "modified shared", "refused chmod: it has other names, hard links, whose permissions would change too")
	check := func(when string) {
		t.Helper()
		value := make([]byte, 10)
		n, err := unix.Getxattr(at("a"), "user.note", value)
		if err != nil || string(value[:n]) != "kept" {
			t.Errorf("%s: %q, %v", when, value[:max(n, 0)], err)
		}
		info, err := os.Stat(at("a"))
		if err != nil {
			t.Fatal(err)
		}
		if stat := info.Sys().(*syscall.Stat_t); info.Mode() != 0o640 || os.Geteuid() == 0 && (stat.Uid != 65534 || stat.Gid != 65534) {
			t.Errorf("%s: %v, %d:%d", when, info.Mode(), stat.Uid, stat.Gid)
		}
	}
	check("applied")
	if data, err := os.ReadFile(at("other-name")); err != nil || string(data) != "old" {
		t.Errorf("the other name: %q, %v", data, err)
	}
	if _, err := f.store.Undo(t.Context(), outcome.Undo); err != nil {
		t.Fatal(err)
	}
	check("undone")
}

func TestUndoLeavesWhatIsNewer(t *testing.T) {
	t.Parallel()
	f := setUp(t, project())
	f.run(everything)
	outcome := f.apply()
	testfiles.Write(t, filepath.Join(f.project, "README.md"), "by the user since\n")
	testfiles.Write(t, filepath.Join(f.project, "docs/mine"), "by the user since\n")
	testfiles.Write(t, filepath.Join(f.project, "src/a.go"), "by the user since\n")
	undone, err := f.store.Undo(t.Context(), outcome.Undo)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, line := range lines(undone) {
		if strings.HasPrefix(line, "conflict") || strings.HasPrefix(line, "refused") {
			got = append(got, line)
		}
	}
	want(t, "conflicts", got,
		"conflict README.md: it was changed since programs saw it",
		"conflict docs: the directory holds what stays: what programs did not see, or what was not removed",
		"conflict src/a.go: it is there now, and was not when programs made it")
	// When nothing newer stands in the way any more, the rest can be undone too.
	u := f.upper()
	u.check(os.Remove(filepath.Join(f.project, "src/a.go")), os.Remove(filepath.Join(f.project, "docs/mine")))
	again, err := f.store.Undo(t.Context(), outcome.Undo)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "again", lines(again), "added src/a.go", "conflict README.md: it was changed since programs saw it", "deleted docs")
}

// Of a directory of which programs saw single files, nothing else changes: they
// saw nothing of it, and it was not shared.
func TestOnlyFilesOfTarget(t *testing.T) {
	t.Parallel()
	f := setUp(t, map[string]string{"shared": "old", "link": "old", "dir": "old", "gone": "old", "other": "mine", "sub/file": "mine"})
	target := changes.Target{Path: f.project, Files: []string{"dir", "gone", "link", "shared"}}
	var err error
	f.set.Close()
	if f.set, err = f.store.New(target); err != nil {
		t.Fatal(err)
	}
	f.run(func(u upper) {
		u.write("shared", "new")
		u.symlink("other", "link")
		u.whiteout("dir")
		u.whiteout("gone")
		u.write("other", "theirs")
		u.write("new", "theirs")
		u.whiteout("sub")
	})
	want := "deleted dir, deleted gone, modified shared"
	held := f.held()
	f.set.Close()
	if f.set, err = f.store.Open(held.ID); err != nil { // as who applies it later does
		t.Fatal(err)
	}
	held = f.held()
	var got []string
	for _, c := range held.Files {
		got = append(got, string(c.Kind)+" "+c.Path)
	}
	if strings.Join(got, ", ") != want || len(held.Refused) != 5 {
		t.Errorf("held %q, refused %v", got, held.Refused)
	}
	if diff, err := f.set.Diff(t.Context(), changes.DiffOptions{}); err != nil || strings.Contains(diff.Text, "mine") {
		t.Errorf("the diff shows what was not shared: %v\n%s", err, diff.Text)
	}
	if outcome := f.apply(); len(outcome.Applied) != 3 {
		t.Errorf("applied %v", outcome.Applied)
	}
	for name, want := range map[string]string{"shared": "new", "link": "old", "other": "mine", "sub/file": "mine"} {
		if got, err := os.ReadFile(filepath.Join(f.project, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q: %v", name, got, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(f.project, "new")); err == nil {
		t.Error("a file was added beside those that are shared")
	}
}
