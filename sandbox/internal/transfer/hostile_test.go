package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// write returns the stream of some records; content is that of all files.
func write(content string, headers ...header) []byte {
	var stream bytes.Buffer
	for _, h := range headers {
		wire.Send(&stream, &h)
		if h.kind == file {
			if content != "" {
				wire.Send(&stream, &part{length: int64(len(content))})
				stream.WriteString(content)
			}
			wire.Send(&stream, &part{})
		}
	}
	wire.Send(&stream, &header{kind: end})
	return stream.Bytes()
}

// overflow returns a stream with a file whose only part begins where no number
// says.
func overflow() []byte {
	var stream bytes.Buffer
	for _, m := range []wire.Message{&header{kind: file, path: "a", size: 1 << 62}, &part{math.MaxInt64, 1}} {
		wire.Send(&stream, m)
	}
	stream.WriteByte('x')
	wire.Send(&stream, &part{})
	wire.Send(&stream, &header{kind: end})
	return stream.Bytes()
}

// victim is a directory beside another one, whose content must stay.
type victim struct{ dir, inside, secret string }

func newVictim(t testing.TB) victim {
	t.Helper()
	v := victim{dir: t.TempDir()}
	v.inside, v.secret = filepath.Join(v.dir, "inside"), filepath.Join(v.dir, "outside", "secret")
	err := errors.Join(os.Mkdir(v.inside, 0o700), os.Mkdir(filepath.Dir(v.secret), 0o700),
		os.WriteFile(v.secret, []byte("secret"), 0o600))
	if runtime.GOOS != "windows" {
		err = errors.Join(err, os.Symlink(filepath.Dir(v.secret), filepath.Join(v.inside, "out")), os.Symlink(v.secret, filepath.Join(v.inside, "link")))
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// expectIntact expects that nothing outside has changed and that no other name
// of it is inside.
func (v victim) expectIntact(t testing.TB) {
	t.Helper()
	beside, err := os.ReadDir(v.dir)
	below, belowErr := os.ReadDir(filepath.Dir(v.secret))
	if err != nil || belowErr != nil || len(beside) != 2 || len(below) != 1 {
		t.Fatalf("outside is %v and %v, %v, %v", beside, below, err, belowErr)
	}
	info, err := os.Lstat(v.secret)
	content, readErr := os.ReadFile(v.secret)
	if err != nil || readErr != nil || string(content) != "secret" || !info.Mode().IsRegular() || info.Mode().Perm()&0o177 != 0 {
		t.Fatalf("the secret is %q, %v, %v, %v", content, info, err, readErr)
	}
	entries, err := os.ReadDir(v.inside)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if found, err := entry.Info(); err == nil && os.SameFile(found, info) {
			t.Fatalf("%s is the secret", entry.Name())
		}
	}
}

func (v victim) receive(t testing.TB, stream []byte, bounds Bounds) (int, error) {
	t.Helper()
	root, err := os.OpenRoot(v.inside)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	skipped, err := Receive(bufio.NewReader(bytes.NewReader(stream)), root, bounds)
	v.expectIntact(t)
	return skipped, err
}

// Paths that lead elsewhere, or nowhere.
func TestPathsThatAreRefused(t *testing.T) {
	t.Parallel()
	paths := []string{
		"", ".", "..", "../x", "a/../../x", "a/..", "/", "/etc/x", "a//b", "a/", "./a", "a/./b", "a\x00b",
		strings.Repeat("x", maxPath+1), strings.Repeat("d/", maxDepth+1) + "x",
	}
	for _, path := range paths {
		for _, k := range []kind{directory, file, symlink, hardlink, removal} {
			v := newVictim(t)
			skipped, err := v.receive(t, write("x", header{kind: k, path: path, target: "x", size: 1}), Bounds{Removable: func(string) bool { return true }})
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("%c %.20q is taken: %d skipped, %v", k, path, skipped, err)
			}
		}
		if _, err := newVictim(t).receive(t, write("", header{kind: hardlink, path: "x", target: path}), Bounds{}); !errors.Is(err, ErrMalformed) {
			t.Errorf("a hard link to %.20q is taken: %v", path, err)
		}
	}
}

// Paths that are of another system have no place, and what follows is taken.
func TestPathsThatAreNotOfThisSystem(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "windows" {
		t.Skip("every path is of this system")
	}
	for _, path := range []string{`..\x`, `a\b`, `C:x`, `C:\x`, "NUL", "12:30"} {
		for _, k := range []kind{directory, file, symlink, hardlink} {
			v := newVictim(t)
			skipped, err := v.receive(t, write("x", header{kind: file, path: "a", size: 1}, header{kind: k, path: path, target: "a", size: 1}, header{kind: file, path: "b", size: 1}), Bounds{})
			if _, missing := os.Stat(filepath.Join(v.inside, "b")); skipped != 1 || err != nil || missing != nil {
				t.Errorf("%c %q: %d skipped, %v, %v", k, path, skipped, err, missing)
			}
		}
	}
}

// Streams that are well-formed and want something outside, or too much. What
// has no place is skipped, and the rest is taken.
func TestStreamsThatLeadOut(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no links to follow")
	}
	all := func(string) bool { return true }
	for name, c := range map[string]struct {
		stream []byte
		bounds Bounds
	}{
		"a file through a link":           {write("x", header{kind: file, path: "out/secret", size: 1}), Bounds{}},
		"a new file through a link":       {write("x", header{kind: file, path: "out/new", size: 1}), Bounds{}},
		"a file in place of a link":       {write("x", header{kind: file, path: "link", size: 1, mode: 0o666}), Bounds{}},
		"a directory in place of a link":  {write("", header{kind: directory, path: "out", mode: 0o777}), Bounds{}},
		"a directory through a link":      {write("", header{kind: directory, path: "out/new", mode: 0o777}), Bounds{}},
		"the mode of what a link names":   {write("", header{kind: directory, path: "out", mode: 0o777}, header{kind: symlink, path: "out", target: "../outside"}), Bounds{}},
		"a link through a link":           {write("", header{kind: symlink, path: "out/new", target: "x"}), Bounds{}},
		"a hard link to a link":           {write("", header{kind: hardlink, path: "x", target: "link"}), Bounds{}},
		"a hard link through a link":      {write("", header{kind: hardlink, path: "x", target: "out/secret"}), Bounds{}},
		"a hard link into a link":         {write("x", header{kind: file, path: "a", size: 1}, header{kind: hardlink, path: "out/new", target: "a"}), Bounds{}},
		"a link first, then a file":       {write("x", header{kind: symlink, path: "new", target: "../outside"}, header{kind: file, path: "new/secret", size: 1}), Bounds{}},
		"a link first, then the same":     {write("x", header{kind: symlink, path: "new", target: "../outside/secret"}, header{kind: file, path: "new", size: 1}), Bounds{}},
		"staging through a link":          {write("x", header{kind: file, path: "new", size: 1}), Bounds{Staging: "out"}},
		"removal through a link":          {write("", header{kind: removal, path: "out/secret"}), Bounds{Removable: all}},
		"removal of a link":               {write("", header{kind: removal, path: "link"}), Bounds{Removable: all}},
		"removal of a directory's link":   {write("", header{kind: removal, path: "out"}), Bounds{Removable: all}},
		"removal of what is not empty":    {write("x", header{kind: file, path: "a", size: 1}, header{kind: directory, path: "d"}, header{kind: removal, path: "d"}), Bounds{Removable: all}},
		"a link in place of the secret's": {write("", header{kind: symlink, path: "link", target: "/"}), Bounds{}},
	} {
		if _, err := newVictim(t).receive(t, c.stream, c.bounds); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStreamsThatAreTooMuch(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100)
	some := []header{{kind: file, path: "a", size: 100}, {kind: file, path: "b", size: 100}}
	for name, c := range map[string]struct {
		stream []byte
		bounds Bounds
		taken  bool
	}{
		"bytes":                     {write(long, some...), Bounds{Bytes: 199}, false},
		"as many bytes":             {write(long, some...), Bounds{Bytes: 200}, true},
		"a long file":               {write("", header{kind: file, path: "a", size: 1001}), Bounds{FileBytes: 1000}, false},
		"as long a file":            {write("", header{kind: file, path: "a", size: 1000}), Bounds{FileBytes: 1000}, true},
		"entries":                   {write(long, some...), Bounds{Entries: 1}, false},
		"as many entries":           {write(long, some...), Bounds{Entries: 2}, true},
		"content behind the end":    {write(long, header{kind: file, path: "a", size: 99}), Bounds{}, false},
		"removal of what was given": {write("", header{kind: removal, path: "a"}), Bounds{Removable: func(name string) bool { return name == "a" }}, true},
		"removal of another":        {write("", header{kind: removal, path: "b"}), Bounds{Removable: func(name string) bool { return name == "a" }}, false},
		"removal of anything":       {write("", header{kind: removal, path: "b"}), Bounds{}, false},
		"mode that sets identity":   {write("", header{kind: file, path: "a", mode: 0o4755}), Bounds{}, false},
		"negative size":             {write("", header{kind: file, path: "a", size: -1}), Bounds{}, false},
		"unknown kind":              {write("", header{kind: 'x', path: "a"}), Bounds{}, false},
		"link that leads nowhere":   {write("", header{kind: symlink, path: "a"}), Bounds{}, false},
		"gap that overflows":        {overflow(), Bounds{}, false},
	} {
		if _, err := newVictim(t).receive(t, c.stream, c.bounds); errors.Is(err, ErrMalformed) == c.taken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A stream that is cut at any byte is told, and leaves nothing half done
// behind.
func TestStreamsThatAreCut(t *testing.T) {
	t.Parallel()
	whole := write("content", header{kind: directory, path: "d", mode: 0o700}, header{kind: file, path: "d/f", size: 7, mode: 0o600},
		header{kind: hardlink, path: "h", target: "d/f"})
	for n := range whole {
		v := newVictim(t)
		if _, err := v.receive(t, whole[:n], Bounds{}); !errors.Is(err, ErrMalformed) {
			t.Errorf("%d bytes give %v", n, err)
		}
		if left, _ := filepath.Glob(filepath.Join(v.inside, stagedPrefix+"*")); len(left) > 0 {
			t.Errorf("%d bytes leave %v", n, left)
		}
	}
	if _, err := newVictim(t).receive(t, whole, Bounds{}); err != nil {
		t.Error(err)
	}
}

// Paths that are too long, of which deep directories have some, cost no others.
func TestPathsThatAreTooLong(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs paths beyond what the system takes at once")
	}
	top, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close()
	name, dir := strings.Repeat("x", 250), top
	for range maxPath/len(name) + 1 {
		err := errors.Join(dir.WriteFile("file", []byte("x"), 0o600), dir.Mkdir(name, 0o700))
		if err != nil {
			t.Fatal(err)
		}
		if dir, err = dir.OpenRoot(name); err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
	}
	var stream bytes.Buffer
	if err := list(top, maxEntries, true).Send(&stream, top); err != nil {
		t.Fatal(err)
	}
	v := newVictim(t)
	if skipped, err := v.receive(t, stream.Bytes(), Bounds{}); err != nil || skipped != 1 {
		t.Errorf("%d skipped, %v", skipped, err)
	}
	if _, err := os.Stat(filepath.Join(v.inside, "file")); err != nil {
		t.Error(err)
	}
}

// More files that cannot be carried than any directory holds are no malformed
// stream.
func TestManyThatCannotBeCarried(t *testing.T) {
	t.Parallel()
	var stream bytes.Buffer
	many := newSnapshot()
	many.skipped = maxEntries + 1
	if err := many.Send(&stream, nil); err != nil {
		t.Fatal(err)
	}
	if skipped, err := newVictim(t).receive(t, stream.Bytes(), Bounds{}); skipped != maxEntries || err != nil {
		t.Errorf("%d skipped, %v", skipped, err)
	}
}

func FuzzReceive(f *testing.F) {
	f.Add(write("content", header{kind: directory, path: "d", mode: 0o700}, header{kind: file, path: "d/f", size: 7, mode: 0o600}))
	f.Add(write("x", header{kind: symlink, path: "new", target: "../outside"}, header{kind: file, path: "new/secret", size: 1}))
	f.Add(write("", header{kind: hardlink, path: "x", target: "out/secret"}, header{kind: removal, path: "out"}))
	f.Add(write("", header{kind: removal, path: "link"}, header{kind: directory, path: "link/x"}))
	f.Fuzz(func(t *testing.T, stream []byte) {
		v := newVictim(t)
		v.receive(t, stream, Bounds{Bytes: 1 << 20, FileBytes: 1 << 20, Entries: 1000, Removable: func(string) bool { return true }})
		if left, _ := filepath.Glob(filepath.Join(v.inside, stagedPrefix+"*")); len(left) > 0 {
			t.Errorf("left are %v", left)
		}
	})
}
