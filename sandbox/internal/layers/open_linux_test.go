package layers_test

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/layers"
)

func anything(string) error { return nil }

// read returns what programs see at a path: the content of a file, the names in a
// directory, or an error.
func (b *workbench) read(t testing.TB, path string) (landed, content string, err error) {
	t.Helper()
	opened, err := layers.Open(b.share, path, func(at string) error { landed = at; return nil })
	if err != nil {
		return landed, "", err
	}
	defer opened.Close()
	if landed != opened.Path {
		t.Errorf("%s was asked for as %s and is %s", path, landed, opened.Path)
	}
	if opened.File != nil {
		data, err := io.ReadAll(opened.File)
		return landed, string(data), err
	}
	entries, _, err := opened.List(1, 1000)
	check(t, err)
	for _, e := range entries {
		content += strings.TrimPrefix(e.Path, landed+"/") + " "
	}
	return landed, "[" + strings.TrimSpace(content) + "]", nil
}

// put writes a file, whatever was there.
func (b *workbench) put(path, content string) error {
	_, err := layers.Put(b.share, path, layers.Edit{
		Limit: 1 << 20, Check: func(string, bool) error { return nil },
		Change: func([]byte) ([]byte, error) { return []byte(content), nil },
	})
	return err
}

// TestOpen: a path leads to what programs see there, and nowhere else.
func TestOpen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		user, mask, upper []string
		path, at, want    string
		err               error
	}{
		"a file":                    {user: []string{"d/a=1"}, path: "d/a", at: "d/a", want: "1"},
		"a changed file":            {user: []string{"a=1"}, upper: []string{"a=2"}, path: "a", at: "a", want: "2"},
		"a deleted file":            {user: []string{"a=1"}, upper: []string{"a-"}, path: "a", at: "a", err: fs.ErrNotExist},
		"a hidden file":             {user: []string{".env=1"}, mask: []string{".env-"}, path: ".env", at: ".env", err: fs.ErrNotExist},
		"a replaced file":           {user: []string{"d/c=1"}, mask: []string{"d/c=x"}, path: "d/c", at: "d/c", want: "x"},
		"a link to a hidden file":   {user: []string{".env=1"}, mask: []string{".env-"}, upper: []string{"x>.env"}, path: "x", at: ".env", err: fs.ErrNotExist},
		"into a hidden directory":   {user: []string{".aws/c=1"}, mask: []string{".aws-"}, upper: []string{"x>.aws"}, path: "x/c", at: ".aws/c", err: fs.ErrNotExist},
		"below an opaque directory": {user: []string{"d/a=1"}, upper: []string{"d/!", "d/b=2"}, path: "d/a", at: "d/a", err: fs.ErrNotExist},
		"the top":                   {user: []string{"a=1", "b=1", ".env=1"}, mask: []string{".env-"}, upper: []string{"a-", "c=1"}, path: ".", at: ".", want: "[b c]"},
		"a merged directory":        {user: []string{"d/a=1", "d/b=1"}, upper: []string{"d/b-", "d/c=1", "d/l>a", "d/m>nowhere"}, path: "d", at: "d", want: "[a c l]"},
		"ignored names":             {user: []string{".git/config=1", "a=1"}, path: ".", at: ".", want: "[a]"},
		"a link":                    {user: []string{"d/a=1", "l>d/a"}, path: "l", at: "d/a", want: "1"},
		"a link across layers":      {user: []string{"d/a=1"}, upper: []string{"e/l>../d"}, path: "e/l/a", at: "d/a", want: "1"},
		"a link that was put there": {user: []string{"d/a=1", "e/a=2"}, upper: []string{"d>e"}, path: "d/a", at: "e/a", want: "2"},
		"an absolute link inside":   {user: []string{"d/a=1", "l>SHARE/d"}, path: "l/a", at: "d/a", want: "1"},
		"an absolute link out":      {upper: []string{"l>/etc/passwd"}, path: "l", err: layers.ErrOutside},
		"a link to beside":          {upper: []string{"l>SHAREx/d"}, path: "l", err: layers.ErrOutside},
		"a link up":                 {upper: []string{"d/l>../../user/a"}, user: []string{"a=1"}, path: "d/l", err: layers.ErrOutside},
		"a link up and down":        {user: []string{"a=1", "d/e/"}, upper: []string{"d/l>e/../../a"}, path: "d/l", at: "a", want: "1"},
		"a circle":                  {upper: []string{"a>b", "b>a"}, path: "a", err: fs.ErrNotExist},
		"a long chain":              {upper: chain(41), path: "l0", err: fs.ErrNotExist},
		"a chain":                   {upper: append(chain(39), "l39=1"), path: "l0", at: "l39", want: "1"},
		"below a file":              {user: []string{"a=1"}, path: "a/b", err: unix.ENOTDIR},
		"a path up":                 {user: []string{"a=1"}, path: "../a", err: layers.ErrOutside},
		"nothing":                   {path: "a/b", at: "a/b", err: fs.ErrNotExist},
		"a device":                  {upper: []string{"a-"}, user: []string{"a/b=1"}, path: "a/b", at: "a/b", err: fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWorkbench(t)
			for _, lines := range [][]string{test.user, test.mask, test.upper} {
				for i, line := range lines {
					lines[i] = strings.ReplaceAll(line, "SHARE", b.share.Path)
				}
			}
			plant(t, b.user, test.user...)
			plant(t, b.mask, test.mask...)
			plant(t, b.upper, test.upper...)
			at, got, err := b.read(t, test.path)
			if at != test.at || got != test.want || !errors.Is(err, test.err) || err != nil && test.err == nil {
				t.Errorf("%s is %q at %q, %v; want %q at %q, %v", test.path, got, at, err, test.want, test.at, test.err)
			}
		})
	}
}

func chain(length int) (lines []string) {
	for i := range length {
		lines = append(lines, "l"+strconv.Itoa(i)+">l"+strconv.Itoa(i+1))
	}
	return lines
}

// TestOpenSpecial: nothing waits for a FIFO, and a socket is none.
func TestOpenSpecial(t *testing.T) {
	t.Parallel()
	b := newWorkbench(t)
	check(t, unix.Mkfifo(filepath.Join(b.upper, "fifo"), 0o600))
	plant(t, b.upper, "l>fifo")
	for _, path := range []string{"fifo", "l"} {
		if _, _, err := b.read(t, path); !errors.Is(err, layers.ErrSpecial) {
			t.Errorf("%s: %v", path, err)
		}
		if err := b.put(path, "x"); !errors.Is(err, layers.ErrSpecial) {
			t.Errorf("writing %s: %v", path, err)
		}
	}
	if err := b.put(".", "x"); !errors.Is(err, layers.ErrDirectory) {
		t.Errorf("writing the top: %v", err)
	}
}

// TestOpenAsked: what may not be opened is not, and nothing is read before.
func TestOpenAsked(t *testing.T) {
	t.Parallel()
	b := newWorkbench(t)
	plant(t, b.user, "d/a=1", "l>d")
	refused := errors.New("no")
	if _, err := layers.Open(b.share, "l/a", func(string) error { return refused }); err != refused {
		t.Error(err)
	}
	_, err := layers.Put(b.share, "l/a", layers.Edit{
		Check:  func(at string, created bool) error { return errors.Join(refused, errors.New(at)) },
		Change: func([]byte) ([]byte, error) { t.Error("the file was read"); return nil, nil },
	})
	if !errors.Is(err, refused) || !strings.Contains(err.Error(), "d/a") {
		t.Error(err)
	}
	expect(t, "upper", b.upper)
}

// TestList: a listing has the first names, so many levels deep.
func TestList(t *testing.T) {
	t.Parallel()
	b := newWorkbench(t)
	plant(t, b.user, "a/b/c/d=1", "a/x=12", "b.txt=1", "circle>.", "z/1=", "z/2=", "node_modules/m/i.js=1")
	plant(t, b.upper, "z/1-", "z/3=345")
	opened, err := layers.Open(b.share, ".", anything)
	check(t, err)
	defer opened.Close()
	for _, test := range []struct {
		depth, most int
		more        bool
		want        string
	}{
		{1, 10, false, "a/ b.txt:1 circle/ z/"},
		{2, 10, false, "a/ a/b/ a/x:2 b.txt:1 circle/ z/ z/2:0 z/3:3"},
		{9, 10, false, "a/ a/b/ a/b/c/ a/b/c/d:1 a/x:2 b.txt:1 circle/ z/ z/2:0 z/3:3"},
		{2, 3, true, "a/ a/b/ a/x:2"},
		{1, 3, true, "a/ b.txt:1 circle/"},
		{1, 4, false, "a/ b.txt:1 circle/ z/"},
	} {
		entries, more, err := opened.List(test.depth, test.most)
		check(t, err)
		var got []string
		for _, e := range entries {
			if e.Dir {
				got = append(got, e.Path+"/")
				continue
			}
			got = append(got, e.Path+":"+strconv.Itoa(int(e.Size)))
		}
		if strings.Join(got, " ") != test.want || more != test.more {
			t.Errorf("%d levels, %d entries: %q, %t", test.depth, test.most, got, more)
		}
	}
}

// TestPut: a file comes into upper alone, as an overlay would have it.
func TestPut(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		user, mask, upper []string
		path              string
		want              []string // upper
		err               error
	}{
		"a new file":              {user: []string{"a=1"}, path: "b", want: []string{"b=new"}},
		"in new directories":      {path: "d/e/f", want: []string{"d/", "d/e/", "d/e/f=new"}},
		"a changed file":          {user: []string{"a=1 0755"}, path: "a", want: []string{"a=new 0755"}},
		"in a closed directory":   {user: []string{"d/a=1", "d/ 0750"}, path: "d/a", want: []string{"d/ 0750", "d/a=new"}},
		"again":                   {user: []string{"d/a=1"}, upper: []string{"d/a=2 0600", "d/b=2"}, path: "d/a", want: []string{"d/", "d/a=new 0600", "d/b=2"}},
		"what was deleted":        {user: []string{"a=1 0755"}, upper: []string{"a-"}, path: "a", want: []string{"a=new"}},
		"in a deleted directory":  {user: []string{"d/a=1"}, upper: []string{"d-"}, path: "d/b", want: []string{"d/!", "d/b=new"}},
		"for a directory":         {user: []string{"d/a=1"}, upper: []string{"d=1"}, path: "d", want: []string{"d=new"}},
		"through a link":          {user: []string{"d/a=1", "l>d"}, path: "l/a", want: []string{"d/", "d/a=new"}},
		"at a link":               {user: []string{"d/a=1", "l>d/a"}, path: "l", want: []string{"d/", "d/a=new"}},
		"at a link to nothing":    {user: []string{"l>d/a"}, path: "l", want: []string{"d/", "d/a=new"}},
		"through a link out":      {user: []string{"l>/tmp"}, path: "l/a", err: layers.ErrOutside},
		"a read-only file":        {user: []string{"a=1 0444"}, path: "a", err: fs.ErrPermission},
		"in a read-only place":    {user: []string{"d/ 0555"}, path: "d/e/f", err: fs.ErrPermission},
		"a directory":             {user: []string{"d/a=1"}, path: "d", err: layers.ErrDirectory},
		"below a file":            {user: []string{"a=1"}, path: "a/b", err: unix.ENOTDIR},
		"a replaced file":         {user: []string{"d/c=1"}, mask: []string{"d/c=x"}, path: "d/c", want: []string{"d/", "d/c=new"}},
		"a large file":            {user: []string{"a=" + strings.Repeat("1", 1<<20+1)}, path: "a", err: layers.ErrTooLarge},
		"an opaque one stays one": {user: []string{"d/a=1"}, upper: []string{"d/!"}, path: "d/e/f", want: []string{"d/!", "d/e/", "d/e/f=new"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if os.Geteuid() == 0 && test.err == fs.ErrPermission {
				t.Skip("root may")
			}
			b := newWorkbench(t)
			plant(t, b.user, test.user...)
			plant(t, b.mask, test.mask...)
			plant(t, b.upper, test.upper...)
			before := list(t, b.user)
			err := b.put(test.path, "new")
			if !errors.Is(err, test.err) || err != nil && test.err == nil {
				t.Fatalf("%v; want %v", err, test.err)
			}
			if test.err != nil {
				test.want = test.upper
			}
			expect(t, "upper", b.upper, test.want...)
			expect(t, "work", filepath.Join(b.share.Changes, sandbox.WorkDir))
			if diff := cmp.Diff(before, list(t, b.user)); diff != "" {
				t.Errorf("the user's own has changed:\n%s", diff)
			}
		})
	}
}

// TestOthersFiles: where the server is root it does not do what the owner of the
// directory may not.
func TestOthersFiles(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("files can be given to others by root alone")
	}
	const user, other = 12345, 12346
	b := newWorkbench(t)
	plant(t, b.user, "mine=1", "secret=1 0600", "theirs=1", "closed/a=1", "closed/ 0700", "open=1 0666")
	for name, owner := range map[string]int{".": user, "mine": user, "secret": other, "theirs": other, "closed": other, "closed/a": other, "open": other} {
		check(t, os.Lchown(filepath.Join(b.user, name), owner, owner))
	}
	check(t, os.Lchown(b.upper, user, user))
	for path, want := range map[string][2]error{ // of reading and of writing
		"mine": {}, "new": {fs.ErrNotExist, nil}, "open": {}, "theirs": {nil, fs.ErrPermission},
		"secret": {fs.ErrPermission, fs.ErrPermission}, "closed/a": {fs.ErrPermission, fs.ErrPermission}, "closed": {fs.ErrPermission, fs.ErrPermission},
	} {
		if _, _, err := b.read(t, path); !errors.Is(err, want[0]) || err != nil && want[0] == nil {
			t.Errorf("reading %s: %v", path, err)
		}
		if err := b.put(path, "x"); !errors.Is(err, want[1]) || err != nil && want[1] == nil {
			t.Errorf("writing %s: %v", path, err)
		}
	}
	expectOwners(t, b.upper, map[string]uint32{"mine": user, "new": user, "open": other})
}

// TestOpenLikeTheKernel: what is read at any path is what an overlay has there,
// and what is written is there then, and nothing else is another.
func TestOpenLikeTheKernel(t *testing.T) {
	if !inNamespaces(t) {
		return
	}
	for round := range testenv.Rounds(t, 30, 1000) {
		s := scribe{rand.New(rand.NewPCG(uint64(round), 12)), t}
		b := newWorkbench(t)
		s.plant(b.user, false)
		s.plant(b.mask, true)
		s.plant(b.upper, true)
		for range 6 {
			b.merge(t, layers.Options{}) // which is like the kernel's
			path := s.name(3)
			_, got, err := b.read(t, path)
			want, wantErr := readPlain(b.copy, path)
			if outside := errors.Is(err, layers.ErrOutside); !outside && (got != want || (err == nil) != (wantErr == nil)) {
				t.Fatalf("round %d: %s is %q, %v; want %q, %v", round, path, got, err, want, wantErr)
			}
			user := list(t, b.user)
			switch err := b.put(path, "put"); {
			case errors.Is(err, layers.ErrOutside):
				continue
			case err != nil:
				if writePlain(b.copy, path) == nil {
					t.Fatalf("round %d: %s cannot be written: %v", round, path, err)
				}
			case writePlain(b.copy, path) != nil: // through a link to nothing
			default:
				if stored, _ := b.overlay(t); !slices.Equal(list(t, b.copy), stored) {
					t.Fatalf("round %d: after %s was written (-plain +kernel):\n%s", round, path, cmp.Diff(list(t, b.copy), stored))
				}
			}
			if !slices.Equal(user, list(t, b.user)) {
				t.Fatalf("round %d: the user's own has changed", round)
			}
		}
	}
}

// readPlain is what a program reads at a path.
func readPlain(dir, path string) (string, error) {
	info, err := os.Stat(filepath.Join(dir, path))
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		data, err := os.ReadFile(filepath.Join(dir, path))
		return string(data), err
	}
	entries, err := os.ReadDir(filepath.Join(dir, path))
	var names []string
	for _, entry := range entries {
		if info, err := os.Stat(filepath.Join(dir, path, entry.Name())); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			names = append(names, entry.Name())
		}
	}
	return "[" + strings.Join(names, " ") + "]", err
}

// writePlain is what a program does to write there.
func writePlain(dir, path string) error {
	name := filepath.Join(dir, path)
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte("put"), 0o644))
}

// TestOpenWhileLinksChange: however fast a program swaps a directory for a link,
// nothing outside is read or written.
func TestOpenWhileLinksChange(t *testing.T) {
	t.Parallel()
	b := newWorkbench(t)
	outside := t.TempDir()
	plant(t, outside, "a=secret")
	plant(t, b.upper, "d/a=1", "e>"+outside)
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, filepath.Join(b.upper, "d"), unix.AT_FDCWD, filepath.Join(b.upper, "e"), unix.RENAME_EXCHANGE)
			}
		}
	})
	for range testenv.Rounds(t, 300, 20_000) {
		if _, got, err := b.read(t, "d/a"); got == "secret" {
			t.Fatalf("read what is outside: %v", err)
		}
		_ = b.put("d/a", "1")
	}
	close(stop)
	swapping.Wait()
	expect(t, "outside", outside, "a=secret")
}

// TestProgramsAreWrittenWhileNoneIsStarted: what is being started would have the
// file open to be written, which could not be executed then.
func TestProgramsAreWrittenWhileNoneIsStarted(t *testing.T) {
	for mode, exclusive := range map[uint32]bool{0o755: true, 0o610: true, 0o644: false} {
		layers.WriteFile(t, t.TempDir(), mode, func() {
			if free := syscall.ForkLock.TryLock(); free {
				syscall.ForkLock.Unlock()
				if exclusive {
					t.Errorf("a process can be started while a file of mode %o is written", mode)
				}
			}
		})
	}
}
