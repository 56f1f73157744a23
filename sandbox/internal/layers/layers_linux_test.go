package layers_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/layers"
)

// The tests write trees as lists of lines, one for each entry:
//
//	dir/           a directory            dir/ 0500
//	dir/!          an opaque one
//	file=text      a file of mode 0644    file=text 0755
//	link>target    a symbolic link
//	name-          a whiteout
func plant(t testing.TB, dir string, lines ...string) {
	t.Helper()
	modes := map[string]fs.FileMode{}
	for _, line := range lines {
		spec, modeText, hasMode := strings.Cut(line, " ")
		mode := fs.FileMode(0o644)
		if hasMode {
			_, err := fmt.Sscanf(modeText, "%o", &mode)
			check(t, err)
		}
		plantOne(t, dir, spec, mode)
		if strings.HasSuffix(spec, "/") && hasMode {
			modes[filepath.Join(dir, spec)] = mode
		}
	}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(modes))) {
		check(t, os.Chmod(name, modes[name]))
	}
}

func plantOne(t testing.TB, dir, spec string, mode fs.FileMode) {
	t.Helper()
	at := strings.IndexAny(spec, "=>")
	name := spec
	if at >= 0 {
		name = spec[:at]
	}
	path := filepath.Join(dir, name)
	if at < 0 {
		path = filepath.Join(dir, strings.TrimRight(name, "/!-"))
	}
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	switch {
	case at >= 0 && spec[at] == '=':
		check(t, os.WriteFile(path, []byte(spec[at+1:]), 0o600))
		check(t, os.Chmod(path, mode))
	case at >= 0:
		check(t, os.Symlink(spec[at+1:], path))
	case strings.HasSuffix(name, "-"):
		check(t, unix.Mknod(path, unix.S_IFCHR, 0))
	default:
		check(t, os.MkdirAll(path, 0o755))
		if strings.HasSuffix(name, "!") {
			check(t, unix.Setxattr(path, "user.overlay.opaque", []byte("y"), 0))
		}
	}
}

// list writes what is in a directory in the same way, sorted. What is closed to
// its owner is opened meanwhile.
func list(t testing.TB, dir string) (lines []string) {
	t.Helper()
	var walk func(below string)
	walk = func(below string) {
		entries, err := os.ReadDir(filepath.Join(dir, below))
		check(t, err)
		for _, entry := range entries {
			name := filepath.Join(below, entry.Name())
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // an overlay lists whiteouts that are above nothing
			}
			check(t, err)
			if mode := info.Mode(); mode&fs.ModeSymlink == 0 && mode.Perm()&0o400 == 0 || mode.IsDir() && mode.Perm()&0o700 != 0o700 {
				check(t, os.Chmod(filepath.Join(dir, name), mode.Perm()|0o700))
				defer os.Chmod(filepath.Join(dir, name), mode)
			}
			lines = append(lines, describe(t, filepath.Join(dir, name), name, info))
			if info.IsDir() {
				walk(name)
			}
		}
	}
	walk("")
	slices.Sort(lines)
	return lines
}

func describe(t testing.TB, path, name string, info fs.FileInfo) string {
	t.Helper()
	mode := ""
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		check(t, err)
		return name + ">" + target
	case info.Mode()&fs.ModeCharDevice != 0:
		return name + "-"
	case info.IsDir():
		if info.Mode().Perm() != 0o755 {
			mode = fmt.Sprintf(" %04o", info.Mode().Perm())
		}
		value := make([]byte, 8)
		if n, _ := unix.Getxattr(path, "user.overlay.opaque", value); n > 0 {
			return name + "/!" + mode
		}
		return name + "/" + mode
	case !info.Mode().IsRegular():
		return name + " " + info.Mode().Type().String()
	}
	if info.Mode() != 0o644 {
		mode = fmt.Sprintf(" %04o", info.Mode())
	}
	content, err := os.ReadFile(path)
	check(t, err)
	return name + "=" + string(content) + mode
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expect(t testing.TB, what, dir string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, list(t, dir)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// workbench is a share with a mask layer, and a directory for its copy.
type workbench struct {
	user, mask, upper, copy string
	share                   sandbox.Share
}

func newWorkbench(t testing.TB) *workbench {
	t.Helper()
	base := t.TempDir()
	b := &workbench{user: filepath.Join(base, "user"), mask: filepath.Join(base, "mask"), copy: filepath.Join(base, "copy")}
	for _, dir := range []string{b.user, b.mask, b.copy} {
		check(t, os.Mkdir(dir, 0o755))
	}
	b.share = sandbox.Share{Path: b.user, Layers: []string{b.mask, b.user}, Access: sandbox.AccessReview, Changes: filepath.Join(base, "changes")}
	b.upper = filepath.Join(b.share.Changes, sandbox.UpperDir)
	check(t, errors.Join(os.MkdirAll(b.upper, 0o755), os.Mkdir(filepath.Join(b.share.Changes, sandbox.WorkDir), 0o700)))
	// What is closed to its owner is so to who tidies up.
	t.Cleanup(func() { errors.Join(tempdir.Remove(b.share.Changes), tempdir.Remove(b.user)) })
	return b
}

func (b *workbench) merge(t testing.TB, options layers.Options) *layers.Manifest {
	t.Helper()
	made, err := layers.Merge(t.Context(), b.share, b.copy, options)
	check(t, err)
	return made
}

func (b *workbench) store(t testing.TB, made *layers.Manifest) layers.Lost {
	t.Helper()
	lost, err := layers.Store(b.share, b.copy, made)
	check(t, err)
	return lost
}

func TestMerge(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ user, mask, upper, want []string }{
		"one layer":              {user: []string{"a=1", "d/", "d/b=2 0755", "l>a"}, want: []string{"a=1", "d/", "d/b=2 0755", "l>a"}},
		"a hidden file":          {user: []string{"a=1", ".env=s"}, mask: []string{".env-"}, want: []string{"a=1"}},
		"a replaced file":        {user: []string{"d/a=1", "d/b=2"}, mask: []string{"d/a=x"}, want: []string{"d/", "d/a=x", "d/b=2"}},
		"a changed file":         {user: []string{"a=1"}, mask: []string{"a=x"}, upper: []string{"a=2"}, want: []string{"a=2"}},
		"a deleted file":         {user: []string{"a=1", "b=1"}, upper: []string{"a-"}, want: []string{"b=1"}},
		"a deleted directory":    {user: []string{"d/a=1", "d/b/c=1"}, upper: []string{"d-"}, want: nil},
		"an opaque directory":    {user: []string{"d/a=1", "e/a=1"}, upper: []string{"d/!", "d/b=2"}, want: []string{"d/", "d/b=2", "e/", "e/a=1"}},
		"opaque in the middle":   {user: []string{"d/a=1"}, mask: []string{"d/!", "d/m=1"}, upper: []string{"d/b=2"}, want: []string{"d/", "d/b=2", "d/m=1"}},
		"a file for a directory": {user: []string{"d/a=1"}, upper: []string{"d=2"}, want: []string{"d=2"}},
		"a directory for a file": {user: []string{"d=1"}, upper: []string{"d/a=2"}, want: []string{"d/", "d/a=2"}},
		"a file between":         {user: []string{"d/a=1"}, mask: []string{"d=1"}, upper: []string{"d/b=2"}, want: []string{"d/", "d/b=2"}},
		"a whiteout between":     {user: []string{"d/a=1"}, mask: []string{"d-"}, upper: []string{"d/b=2"}, want: []string{"d/", "d/b=2"}},
		"a hidden file made":     {user: []string{".env=s"}, mask: []string{".env-"}, upper: []string{".env=2"}, want: []string{".env=2"}},
		"modes":                  {user: []string{"d/ 0500", "s=1 0750", "r=1 0400"}, upper: []string{"r=2 0600"}, want: []string{"d/ 0500", "s=1 0750", "r=2 0600"}},
		"names of any bytes":     {user: []string{"\xff\xfe=1", "a\nb=2", "-=3"}, want: []string{"\xff\xfe=1", "a\nb=2", "-=3"}},
		"links of all kinds":     {user: []string{"d/x=1", "up>../..", "abs>/etc/passwd", "dir>d", "self>self"}, want: []string{"d/", "d/x=1", "up>../..", "abs>/etc/passwd", "dir>d", "self>self"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWorkbench(t)
			plant(t, b.user, test.user...)
			plant(t, b.mask, test.mask...)
			plant(t, b.upper, test.upper...)
			made := b.merge(t, layers.Options{})
			expect(t, "the copy", b.copy, test.want...)
			expect(t, "the user's own", b.user, normal(test.user)...)
			// A copy in which nothing changes stores nothing.
			if lost := b.store(t, made); lost != (layers.Lost{}) {
				t.Errorf("lost %+v", lost)
			}
			expect(t, "upper after nothing", b.upper, normal(test.upper)...)
			b.merge(t, layers.Options{Last: made})
			expect(t, "the copy again", b.copy, test.want...)
		})
	}
}

// normal adds the directories that lines imply.
func normal(lines []string) []string {
	all := map[string]bool{}
	for _, line := range lines {
		name, _, _ := strings.Cut(line, "=")
		name, _, _ = strings.Cut(name, ">")
		for dir := filepath.Dir(strings.TrimRight(name, "/!")); dir != "."; dir = filepath.Dir(dir) {
			if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, dir+"/ ") || l == dir+"/" || l == dir+"/!" }) {
				all[dir+"/"] = true
			}
		}
	}
	return append(slices.Collect(maps.Keys(all)), lines...)
}

func TestStore(t *testing.T) {
	t.Parallel()
	user := []string{"a=1", "d/x=1", "d/y=2", "d/e/z=3", "l>a", "s=1 0755", ".env=secret", "c=token"}
	mask := []string{".env-", "c=clean"}
	for name, test := range map[string]struct {
		upper []string // before
		run   func(t *testing.T, copy string)
		want  []string // in upper
		lost  layers.Lost
	}{
		"a new file":                    {run: write("d/new=4"), want: []string{"d/", "d/new=4"}},
		"a changed file":                {run: write("a=2"), want: []string{"a=2"}},
		"a replaced file":               {run: seq(remove("a"), write("a=2")), want: []string{"a=2"}},
		"of the same size and time":     {run: forged("a", "2"), want: []string{"a=2"}},
		"a mode":                        {run: chmod("a", 0o600), want: []string{"a=1 0600"}},
		"a mode that identifies":        {run: chmod("a", 0o755|fs.ModeSetuid), want: []string{"a=1 0755"}},
		"a directory's mode":            {run: chmod("d", 0o700), want: []string{"d/ 0700"}},
		"a deleted file":                {run: remove("d/x"), want: []string{"d/", "d/x-"}},
		"a deleted directory":           {run: remove("d"), want: []string{"d-"}},
		"a file made and removed":       {run: seq(write("new=1"), remove("new")), want: nil},
		"a new directory":               {run: write("n/ 0700", "n/m/o=1"), want: []string{"n/ 0700", "n/m/", "n/m/o=1"}},
		"a new link":                    {run: write("k>/etc/passwd"), want: []string{"k>/etc/passwd"}},
		"another link":                  {run: seq(remove("l"), write("l>b")), want: []string{"l>b"}},
		"a link made again":             {run: seq(remove("l"), write("l>a")), want: nil},
		"a file for a link":             {run: seq(remove("l"), write("l=1")), want: []string{"l=1"}},
		"a link for a directory":        {run: seq(remove("d"), write("d>/etc")), want: []string{"d>/etc"}},
		"a file for a directory":        {run: seq(remove("d"), write("d=1")), want: []string{"d=1"}},
		"a directory for a file":        {run: seq(remove("a"), write("a/b=1")), want: []string{"a/", "a/b=1"}},
		"a directory moved":             {run: move("d", "f"), want: []string{"d-", "f/", "f/x=1", "f/y=2", "f/e/", "f/e/z=3"}},
		"a file made again":             {run: seq(remove("a"), write("a=1")), want: []string{"a=1"}},
		"a file touched":                {run: touch("a"), want: []string{"a=1"}},
		"a file touched twice":          {upper: []string{"a=1"}, run: touch("a"), want: []string{"a=1"}},
		"a directory made again":        {run: seq(remove("d"), write("d/n=1")), want: []string{"d/!", "d/n=1"}},
		"and again":                     {upper: []string{"d/x=3", "d/n=2"}, run: seq(remove("d"), write("d/m=1")), want: []string{"d/!", "d/m=1"}},
		"one of ours made again":        {upper: []string{"n/o=2"}, run: seq(remove("n"), write("n/m=1")), want: []string{"n/", "n/m=1"}},
		"made again with its old names": {run: seq(remove("d"), write("d/x=2", "d/n=1")), want: []string{"d/", "d/e-", "d/y-", "d/x=2", "d/n=1"}},
		"a directory emptied":           {run: seq(remove("d/x"), remove("d/y"), remove("d/e")), want: []string{"d/", "d/x-", "d/y-", "d/e-"}},
		"a hidden file made":            {run: write(".env=mine"), want: []string{".env=mine"}},
		"a shown file changed":          {run: write("c=other"), want: []string{"c=other"}},
		"a shown file removed":          {run: remove("c"), want: []string{"c-"}},
		"what was hidden, guessed":      {run: write("c=token"), want: []string{"c=token"}},

		"changed back":                        {upper: []string{"a=2"}, run: write("a=1"), want: nil},
		"made again":                          {upper: []string{"a-"}, run: write("a=1"), want: nil},
		"deleted after a change":              {upper: []string{"a=2"}, run: remove("a"), want: []string{"a-"}},
		"a new one deleted":                   {upper: []string{"n/m=1"}, run: remove("n"), want: nil},
		"all back below":                      {upper: []string{"d/e/z=4", "d/x-"}, run: write("d/e/z=3", "d/x=1"), want: nil},
		"deleted below a change":              {upper: []string{"d/e/z=4"}, run: remove("d"), want: []string{"d-"}},
		"a directory after its whiteout":      {upper: []string{"d-"}, run: write("d/x=1"), want: []string{"d/!", "d/x=1"}},
		"in an opaque directory":              {upper: []string{"d/!", "d/n=1"}, run: seq(write("d/x=1"), remove("d/n")), want: []string{"d/!", "d/x=1"}},
		"an opaque one deleted":               {upper: []string{"d/!", "d/n=1"}, run: remove("d"), want: []string{"d-"}},
		"a file for a whiteout":               {upper: []string{"d-"}, run: write("d=1"), want: []string{"d=1"}},
		"a directory for a file that was one": {upper: []string{"d=1"}, run: seq(remove("d"), write("d/n=1")), want: []string{"d/!", "d/n=1"}},
		"a hidden file deleted again":         {upper: []string{".env=mine"}, run: remove(".env"), want: nil},
		"what else is there stays":            {upper: []string{"d/x=9", "n=1"}, run: write("a=2"), want: []string{"a=2", "d/", "d/x=9", "n=1"}},

		"hard links": {run: func(t *testing.T, copy string) {
			check(t, os.Link(filepath.Join(copy, "a"), filepath.Join(copy, "h")))
		}, want: []string{"h=1"}},
		"a link to a file elsewhere": {run: func(t *testing.T, copy string) {
			outside := filepath.Join(filepath.Dir(copy), "outside")
			plant(t, filepath.Dir(copy), "outside=secret")
			check(t, errors.Join(os.Remove(filepath.Join(copy, "a")), os.Link(outside, filepath.Join(copy, "a")), os.Link(outside, filepath.Join(copy, "n"))))
		}, want: nil, lost: layers.Lost{Unstored: 2}},
		"special files": {run: func(t *testing.T, copy string) {
			check(t, errors.Join(os.Remove(filepath.Join(copy, "a")), unix.Mkfifo(filepath.Join(copy, "a"), 0o600), unix.Mknod(filepath.Join(copy, "d/w"), unix.S_IFCHR, 0)))
		}, want: []string{"a-"}, lost: layers.Lost{Special: 2}},
		"closed to their owner": {run: seq(write("n/m=1"), chmod("n/m", 0), chmod("n", 0), chmod("d/e/z", 0o200), chmod("d/e", 0), chmod(".", 0)),
			want: []string{"d/", "d/e/ 0000", "d/e/z=3 0200", "n/ 0000", "n/m=1 0000"}},
		"too deep": {run: func(t *testing.T, copy string) {
			check(t, os.MkdirAll(filepath.Join(copy, strings.Repeat("p/", 70)), 0o755))
		}, want: deep(64), lost: layers.Lost{Unstored: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWorkbench(t)
			plant(t, b.user, user...)
			plant(t, b.mask, mask...)
			plant(t, b.upper, test.upper...)
			made := b.merge(t, layers.Options{})
			test.run(t, b.copy)
			lost := b.store(t, made)
			if lost != test.lost {
				t.Errorf("lost %+v, want %+v", lost, test.lost)
			}
			expect(t, "upper", b.upper, test.want...)
			expect(t, "the user's own", b.user, normal(user)...)
			if left, err := os.ReadDir(filepath.Join(b.share.Changes, sandbox.WorkDir)); err != nil || len(left) > 0 {
				t.Errorf("in the work directory are %v, %v", left, err)
			}
		})
	}
}

// A step does something to a copy, as programs do.
type step = func(t *testing.T, copy string)

func seq(steps ...step) step {
	return func(t *testing.T, copy string) {
		for _, step := range steps {
			step(t, copy)
		}
	}
}

func write(lines ...string) step {
	return func(t *testing.T, copy string) { plant(t, copy, lines...) }
}

func remove(name string) step {
	return func(t *testing.T, copy string) { check(t, os.RemoveAll(filepath.Join(copy, name))) }
}

func chmod(name string, mode fs.FileMode) step {
	return func(t *testing.T, copy string) { check(t, os.Chmod(filepath.Join(copy, name), mode)) }
}

func move(from, to string) step {
	return func(t *testing.T, copy string) {
		check(t, os.Rename(filepath.Join(copy, from), filepath.Join(copy, to)))
	}
}

func touch(name string) step {
	return func(t *testing.T, copy string) {
		check(t, os.Chtimes(filepath.Join(copy, name), time.Now(), time.Now()))
	}
}

// forged changes a file so that its size and time tell nothing.
func forged(name, content string) step {
	return func(t *testing.T, copy string) {
		path := filepath.Join(copy, name)
		info, err := os.Stat(path)
		check(t, err)
		check(t, errors.Join(os.WriteFile(path, []byte(content), 0o600), os.Chtimes(path, info.ModTime(), info.ModTime())))
	}
}

// deep returns so many directories, each in the one before.
func deep(count int) (lines []string) {
	for i := range count {
		lines = append(lines, strings.Repeat("p/", i+1))
	}
	return lines
}
