//go:build unix

package contained_test

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/filetest"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	dir, _ := filetest.Hostile(t)
	opened := filetest.Open(t, dir, contained.Options{})
	for name, want := range map[string]string{
		"latest/notes.md":        "notes",
		"alias.md":               "guide",
		"docs/up.md":             "notes",
		"docs/chain.md":          "notes",
		"docs/v2/notes.md":       "notes",
		"v2/docs/guide.md":       "guide",
		"latest/docs/guide.md":   "guide",
		"docs/.gitignore":        "honest",
		"v2/docs/issue-4913":     "honest",
		"latest/docs/.gitignore": "honest",
	} {
		got, err := filetest.Read(opened, name, contained.Range{})
		if err != nil || string(got.Data) != want {
			t.Errorf("Read(%s) = %q, %v; want %q", name, got.Data, err, want)
		}
	}
	for name, want := range map[string]contained.Rule{
		"out.txt":               contained.Escape,
		"absolute.txt":          contained.Escape,
		"outdir/secret.txt":     contained.Escape,
		"absolutedir":           contained.Escape,
		"passwd":                contained.Escape,
		"proc/etc/passwd":       contained.Escape,
		"inabsolute":            contained.Escape,
		"detour":                contained.Escape,
		"docs/outchain":         contained.Escape,
		"docs/throughout":       contained.Escape,
		"dangling":              contained.NotFound,
		"loop":                  contained.NotFound,
		"loop1":                 contained.NotFound,
		"loop/x":                contained.NotFound,
		"docs/self":             contained.NotFound,
		"docs/self/guide.md":    contained.NotFound,
		"docs/root/SKILL.md":    contained.NotFound,
		"docs/v2/docs/guide.md": contained.NotFound,
		".git/config":           contained.NotFound,
		".GIT/config":           contained.NotFound,
		"docs/guide.md~":        contained.NotFound,
		"docs/.guide.swp":       contained.NotFound,
		"docs/.#guide.md":       contained.NotFound,
		"docs/#guide.md#":       contained.NotFound,
		"docs/4913":             contained.NotFound,
		"docs/.DS_Store":        contained.NotFound,
		"node_modules/x/y":      contained.NotFound,
		`docs/back\slash`:       contained.Invalid,
	} {
		_, err := filetest.Read(opened, name, contained.Range{})
		filetest.WantRule(t, err, want)
		_, _, err = opened.List(name, 1)
		filetest.WantRule(t, err, want)
	}
}

// What is listed can be read, and what can be read is listed: the two ways
// into a directory follow the same rules.
func TestListedIsServed(t *testing.T) {
	t.Parallel()
	dir, _ := filetest.Hostile(t)
	opened := filetest.Open(t, dir, contained.Options{})
	entries, more, err := opened.List(".", 64)
	if err != nil || more {
		t.Fatal(err, more)
	}
	var got []string
	for _, entry := range entries {
		if entry.Dir {
			if isDir, err := opened.IsDir(entry.Path); err != nil || !isDir {
				t.Errorf("%s is listed as a directory, but IsDir = %v, %v", entry.Path, isDir, err)
			}
			continue
		}
		got = append(got, entry.Path)
		if content, err := filetest.Read(opened, entry.Path, contained.Range{}); err != nil || content.Size != entry.Size {
			t.Errorf("%s is listed with %d bytes, but Read gives %d, %v", entry.Path, entry.Size, content.Size, err)
		}
	}
	want := []string{
		"SKILL.md", "alias.md",
		"docs/.gitignore", "docs/C: drive", "docs/chain.md", "docs/guide.md", "docs/issue-4913", "docs/up.md", "docs/v2/notes.md",
		"latest/docs/.gitignore", "latest/docs/C: drive", "latest/docs/chain.md", "latest/docs/guide.md", "latest/docs/issue-4913", "latest/docs/up.md",
		"latest/notes.md",
		"v2/docs/.gitignore", "v2/docs/C: drive", "v2/docs/chain.md", "v2/docs/guide.md", "v2/docs/issue-4913", "v2/docs/up.md",
		"v2/notes.md",
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Special files are refused at once: opening a FIFO would wait for a writer.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"file": "x"})
	special := []string{"fifo", "link"}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("fifo", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if socket := filepath.Join(dir, "s"); len(socket) < 100 {
		listener, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		special = append(special, "s")
	}
	if err := syscall.Mknod(filepath.Join(dir, "null"), syscall.S_IFCHR|0o666, 1<<8|3); err == nil {
		special = append(special, "null")
	} else {
		t.Logf("no device is tried, which takes root: %v", err)
	}
	opened := filetest.Open(t, dir, contained.Options{})
	for _, name := range special {
		_, err := filetest.Read(opened, name, contained.Range{})
		filetest.WantRule(t, err, contained.SpecialFile)
		_, err = opened.ReadAll(name, 0)
		filetest.WantRule(t, err, contained.SpecialFile)
		_, _, err = opened.List(name, 1)
		filetest.WantRule(t, err, contained.SpecialFile)
		_, err = opened.IsDir(name)
		filetest.WantRule(t, err, contained.SpecialFile)
	}
	_, err := filetest.Read(opened, "fifo/x", contained.Range{})
	filetest.WantRule(t, err, contained.NotDirectory)
	if entries, _, err := opened.List(".", 1); err != nil || len(entries) != 1 {
		t.Errorf("List = %v, %v", entries, err)
	}
	_, err = contained.Open(filepath.Join(dir, "fifo"), contained.Options{})
	filetest.WantRule(t, err, contained.NotDirectory)
}

// Of a sandbox's directory no hard link is read; of a skill's one is.
func TestHardLinks(t *testing.T) {
	t.Parallel()
	dir, outside := filetest.Hostile(t)
	if err := os.Link(filepath.Join(outside, "secret.txt"), filepath.Join(dir, "hard.txt")); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	if content, err := filetest.Read(filetest.Open(t, dir, contained.Options{}), "hard.txt", contained.Range{}); err != nil || string(content.Data) != filetest.Secret {
		t.Errorf("a skill's hard link gives %q, %v", content.Data, err)
	}
	opened := filetest.Open(t, dir, contained.Options{Untrusted: true})
	_, err := filetest.Read(opened, "hard.txt", contained.Range{})
	filetest.WantRule(t, err, contained.Escape)
	_, err = opened.ReadAll("hard.txt", 0)
	filetest.WantRule(t, err, contained.Escape)
	entries, _, err := opened.List(".", 1)
	if err != nil || slices.ContainsFunc(entries, func(e contained.Entry) bool { return e.Path == "hard.txt" }) {
		t.Errorf("List = %v, %v", entries, err)
	}
	if _, err := filetest.Read(opened, "SKILL.md", contained.Range{}); err != nil {
		t.Error(err)
	}
	_, err = filetest.Read(opened, "out.txt", contained.Range{})
	filetest.WantRule(t, err, contained.Escape)
}

// In a sandbox's directory ignored files are not listed, but are read.
func TestIgnoredFilesOfWorkspace(t *testing.T) {
	t.Parallel()
	dir, _ := filetest.Hostile(t)
	opened := filetest.Open(t, dir, contained.Options{Untrusted: true})
	if content, err := filetest.Read(opened, ".git/config", contained.Range{}); err != nil || string(content.Data) != "git" {
		t.Errorf("Read = %q, %v", content.Data, err)
	}
	if entries, _, err := opened.List(".git", 1); err != nil || len(entries) != 1 || entries[0].Path != ".git/config" {
		t.Errorf("List = %v, %v", entries, err)
	}
	entries, _, err := opened.List(".", 64)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.Contains(entry.Path, ".git/") || strings.Contains(entry.Path, "node_modules") {
			t.Errorf("%s is listed", entry.Path)
		}
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	dir := filetest.Plant(t, map[string]string{"SKILL.md": "x", "closed.md": "x", "closed/file": "x"})
	for _, name := range []string{"closed.md", "closed"} {
		host := filepath.Join(dir, name)
		if err := os.Chmod(host, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(host, 0o755) })
	}
	opened := filetest.Open(t, dir, contained.Options{})
	for _, name := range []string{"closed.md", "closed/file"} {
		_, err := filetest.Read(opened, name, contained.Range{})
		filetest.WantRule(t, err, contained.Denied)
	}
	_, _, err := opened.List("closed", 1)
	filetest.WantRule(t, err, contained.Denied)
	if entries, _, err := opened.List(".", 3); err != nil || len(entries) != 3 {
		t.Errorf("List = %v, %v", entries, err)
	}
}

// The kernel's files claim to be empty; they are read all the same.
func TestFilesThatClaimToBeEmpty(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc/self/status")
	}
	opened := filetest.Open(t, "/proc/self", contained.Options{})
	got, err := filetest.Read(opened, "status", contained.Range{})
	if err != nil || !strings.HasPrefix(string(got.Data), "Name:") || !got.Text || got.Size != int64(len(got.Data)) {
		t.Errorf("Read gives %d of %d bytes, text %v, %v", len(got.Data), got.Size, got.Text, err)
	}
	got, err = filetest.Read(opened, "status", contained.Range{Length: 5})
	if err != nil || string(got.Data) != "Name:" || got.Next != 5 || got.Size < 5 {
		t.Errorf("a page is %q of %d bytes, next %d, %v", got.Data, got.Size, got.Next, err)
	}
	_, err = filetest.Read(opened, "status", contained.Range{Offset: 1 << 20})
	filetest.WantRule(t, err, contained.OutOfRange)
	_, err = opened.ReadAll("status", 10)
	filetest.WantRule(t, err, contained.TooLarge)
}

// However a name is swapped while it is read, nothing outside is given.
func TestSwapWhileReading(t *testing.T) {
	t.Parallel()
	dir := filetest.Swapping(t)
	opened, untrusted := filetest.Open(t, dir, contained.Options{}), filetest.Open(t, dir, contained.Options{Untrusted: true})
	var read, refused int
	for deadline := time.Now().Add(time.Minute); read < 1000 || refused < 1000; {
		if time.Now().After(deadline) {
			t.Fatalf("%d reads succeeded and %d were refused: nothing is swapped", read, refused)
		}
		for _, name := range []string{"swapped.txt", "swapdir/secret.txt"} {
			for _, opened := range []*contained.Dir{opened, untrusted} {
				content, err := filetest.Read(opened, name, contained.Range{})
				if err != nil {
					refused++
					if filetest.RuleOf(err) == "" {
						t.Fatalf("Read(%s): %v", name, err)
					}
					continue
				}
				read++
				if strings.Contains(string(content.Data), "SECRET") {
					t.Fatalf("Read(%s) gave what lies outside", name)
				}
			}
		}
	}
}

// Whatever name is asked for, nothing outside is given, and all that is given
// can be told by the directory itself.
func FuzzContainment(f *testing.F) {
	dir, _ := filetest.Hostile(f)
	names := []string{
		"SKILL.md", "alias.md", "out.txt", "outdir/secret.txt", "docs/outchain", "passwd", "proc/etc/passwd", "docs/../out.txt",
		"docs/v2/docs/v2/notes.md", "../outside/secret.txt", "/etc/passwd", "docs//./guide.md", "loop/x", ".git/config", "latest/\xff",
	}
	filetest.Seeded(f, len(names))
	for _, name := range names {
		f.Add(name)
	}
	opened, untrusted := filetest.Open(f, dir, contained.Options{}), filetest.Open(f, dir, contained.Options{Untrusted: true})
	f.Fuzz(func(t *testing.T, name string) {
		for _, opened := range []*contained.Dir{opened, untrusted} {
			content, err := filetest.Read(opened, name, contained.Range{})
			if err != nil {
				filetest.WantRule(t, err, filetest.RuleOf(err))
			} else if host, err := os.ReadFile(filepath.Join(dir, content.Path)); err != nil || !bytes.Equal(host, content.Data) {
				t.Errorf("Read(%q) gives %q, but %s is %q, %v", name, content.Data, content.Path, host, err)
			}
			if bytes.Contains(content.Data, []byte("SECRET")) || bytes.Contains(content.Data, []byte("root:")) {
				t.Errorf("Read(%q) gives what lies outside", name)
			}
			entries, _, err := opened.List(name, 2)
			if err != nil {
				filetest.WantRule(t, err, filetest.RuleOf(err))
			}
			for _, entry := range entries {
				if strings.Contains(entry.Path, "secret") || strings.Contains(entry.Path, "..") {
					t.Errorf("List(%q) gives %s", name, entry.Path)
				}
			}
		}
	})
}
