//go:build unix

package resources_test

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

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources"
)

// secret is what lies outside; no test may ever see it.
const secret = "SECRET that lies outside of the skill"

// hostile is a directory with links of every kind beside honest files. The
// host path of a file with the secret is outside.
func hostile(t testing.TB) (dir, outside string) {
	t.Helper()
	dir = plant(t, map[string]string{
		"SKILL.md":          entryDocument("planted"),
		"docs/guide.md":     "guide",
		"v2/notes.md":       "notes",
		".git/config":       "git",
		"node_modules/x/y":  "y",
		"docs/.DS_Store":    "mac",
		"docs/guide.md~":    "backup",
		"docs/.guide.swp":   "vim",
		"docs/.#guide.md":   "emacs",
		"docs/#guide.md#":   "emacs",
		"docs/4913":         "vim",
		"docs/.gitignore":   "honest",
		"docs/issue-4913":   "honest",
		"docs/C: drive":     "honest, but no path that can be given",
		`docs/back\slash`:   "honest, but no path that can be given",
		"__pycache__/a.pyc": "pyc",
	})
	outside = filepath.Join(filepath.Dir(dir), "outside")
	write(t, filepath.Join(outside, "secret.txt"), secret)
	for link, target := range map[string]string{
		"latest":          "v2",
		"alias.md":        "docs/guide.md",
		"docs/up.md":      "../v2/notes.md",
		"docs/chain.md":   "up.md",
		"out.txt":         "../outside/secret.txt",
		"absolute.txt":    filepath.Join(outside, "secret.txt"),
		"outdir":          "../outside",
		"absolutedir":     outside,
		"passwd":          "/etc/passwd",
		"proc":            "/proc/self/root",
		"inabsolute":      filepath.Join(dir, "SKILL.md"),
		"detour":          "../planted/SKILL.md",
		"dangling":        "missing",
		"loop":            "loop",
		"loop1":           "loop2",
		"loop2":           "loop1",
		"docs/self":       ".",
		"docs/root":       "..",
		"v2/docs":         "../docs",
		"docs/v2":         "../v2",
		"docs/outchain":   "../out.txt",
		"docs/throughout": "../outdir/secret.txt",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, outside
}

func TestLinks(t *testing.T) {
	t.Parallel()
	dir, _ := hostile(t)
	tree := open(t, dir)
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
		got, err := tree.Read(name, resources.Range{})
		if err != nil || string(got.Data) != want {
			t.Errorf("Read(%s) = %q, %v; want %q", name, got.Data, err, want)
		}
	}
	for name, want := range map[string]resources.Rule{
		"out.txt":               resources.Escape,
		"absolute.txt":          resources.Escape,
		"outdir/secret.txt":     resources.Escape,
		"absolutedir":           resources.Escape,
		"passwd":                resources.Escape,
		"proc/etc/passwd":       resources.Escape,
		"inabsolute":            resources.Escape,
		"detour":                resources.Escape,
		"docs/outchain":         resources.Escape,
		"docs/throughout":       resources.Escape,
		"dangling":              resources.NotFound,
		"loop":                  resources.NotFound,
		"loop1":                 resources.NotFound,
		"loop/x":                resources.NotFound,
		"docs/self":             resources.NotFound,
		"docs/self/guide.md":    resources.NotFound,
		"docs/root/SKILL.md":    resources.NotFound,
		"docs/v2/docs/guide.md": resources.NotFound,
		".git/config":           resources.NotFound,
		".GIT/config":           resources.NotFound,
		"docs/guide.md~":        resources.NotFound,
		"docs/.guide.swp":       resources.NotFound,
		"docs/.#guide.md":       resources.NotFound,
		"docs/#guide.md#":       resources.NotFound,
		"docs/4913":             resources.NotFound,
		"docs/.DS_Store":        resources.NotFound,
		"node_modules/x/y":      resources.NotFound,
		`docs/back\slash`:       resources.Invalid,
	} {
		_, err := tree.Read(name, resources.Range{})
		wantRule(t, err, want)
		_, _, err = tree.List(name, 1)
		wantRule(t, err, want)
	}
}

// What is listed can be read, and what can be read is listed: the two ways
// into a directory follow the same rules.
func TestListedIsServed(t *testing.T) {
	t.Parallel()
	dir, _ := hostile(t)
	tree := open(t, dir)
	entries, more, err := tree.List(".", 64)
	if err != nil || more {
		t.Fatal(err, more)
	}
	var got []string
	for _, entry := range entries {
		if entry.Dir {
			if isDir, err := tree.IsDir(entry.Path); err != nil || !isDir {
				t.Errorf("%s is listed as a directory, but IsDir = %v, %v", entry.Path, isDir, err)
			}
			continue
		}
		got = append(got, entry.Path)
		if content, err := tree.Read(entry.Path, resources.Range{}); err != nil || content.Size != entry.Size {
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
	manifest, err := new(resources.Digests).Manifest(t.Context(), skill(dir))
	if err != nil {
		t.Fatal(err)
	}
	var digested []string
	for _, file := range manifest.Files {
		digested = append(digested, file.Path)
	}
	if !slices.Equal(digested, want) {
		t.Errorf("the manifest has:\n%s\nwant:\n%s", strings.Join(digested, "\n"), strings.Join(want, "\n"))
	}
}

// Special files are refused at once: opening a FIFO would wait for a writer.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"file": "x"})
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
	tree := open(t, dir)
	for _, name := range special {
		_, err := tree.Read(name, resources.Range{})
		wantRule(t, err, resources.SpecialFile)
		_, err = tree.ReadAll(name, 0)
		wantRule(t, err, resources.SpecialFile)
		_, _, err = tree.List(name, 1)
		wantRule(t, err, resources.SpecialFile)
		_, err = tree.IsDir(name)
		wantRule(t, err, resources.SpecialFile)
	}
	_, err := tree.Read("fifo/x", resources.Range{})
	wantRule(t, err, resources.NotDirectory)
	if entries, _, err := tree.List(".", 1); err != nil || len(entries) != 1 {
		t.Errorf("List = %v, %v", entries, err)
	}
	_, err = resources.Open(filepath.Join(dir, "fifo"))
	wantRule(t, err, resources.NotDirectory)
}

// Of a sandbox's directory no hard link is read; of a skill's one is.
func TestHardLinks(t *testing.T) {
	t.Parallel()
	dir, outside := hostile(t)
	if err := os.Link(filepath.Join(outside, "secret.txt"), filepath.Join(dir, "hard.txt")); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	if content, err := open(t, dir).Read("hard.txt", resources.Range{}); err != nil || string(content.Data) != secret {
		t.Errorf("a skill's hard link gives %q, %v", content.Data, err)
	}
	tree := opened(t)(resources.OpenUntrusted(dir))
	_, err := tree.Read("hard.txt", resources.Range{})
	wantRule(t, err, resources.Escape)
	_, err = tree.ReadAll("hard.txt", 0)
	wantRule(t, err, resources.Escape)
	entries, _, err := tree.List(".", 1)
	if err != nil || slices.ContainsFunc(entries, func(e resources.Entry) bool { return e.Path == "hard.txt" }) {
		t.Errorf("List = %v, %v", entries, err)
	}
	if _, err := tree.Read("SKILL.md", resources.Range{}); err != nil {
		t.Error(err)
	}
	_, err = tree.Read("out.txt", resources.Range{})
	wantRule(t, err, resources.Escape)
}

// In a sandbox's directory the leavings of tools are not listed, but are read.
func TestDroppingsOfWorkspace(t *testing.T) {
	t.Parallel()
	dir, _ := hostile(t)
	tree := opened(t)(resources.OpenUntrusted(dir))
	if content, err := tree.Read(".git/config", resources.Range{}); err != nil || string(content.Data) != "git" {
		t.Errorf("Read = %q, %v", content.Data, err)
	}
	if entries, _, err := tree.List(".git", 1); err != nil || len(entries) != 1 || entries[0].Path != ".git/config" {
		t.Errorf("List = %v, %v", entries, err)
	}
	entries, _, err := tree.List(".", 64)
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
	dir := plant(t, map[string]string{"SKILL.md": "x", "closed.md": "x", "closed/file": "x"})
	for _, name := range []string{"closed.md", "closed"} {
		host := filepath.Join(dir, name)
		if err := os.Chmod(host, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(host, 0o755) })
	}
	tree := open(t, dir)
	for _, name := range []string{"closed.md", "closed/file"} {
		_, err := tree.Read(name, resources.Range{})
		wantRule(t, err, resources.Denied)
	}
	_, _, err := tree.List("closed", 1)
	wantRule(t, err, resources.Denied)
	if entries, _, err := tree.List(".", 3); err != nil || len(entries) != 3 {
		t.Errorf("List = %v, %v", entries, err)
	}
	manifest, err := new(resources.Digests).Manifest(t.Context(), skill(dir))
	if err != nil || len(manifest.Files) != 1 {
		t.Errorf("Manifest = %v, %v", manifest.Files, err)
	}
}

// Names are bytes on most Unix systems. They are listed, have a URI, and are
// read by it.
func TestNamesOfAnyBytes(t *testing.T) {
	t.Parallel()
	names := []string{
		"line\nbreak", "tab\t", "esc\x1b[31m", "del\x7f", "50%", "%41", "a?b", "a#b", "a b", " ", "[x]", "{x}", "a&b=c;d", "a+b",
		"it's", "\"quoted\"", "<tag>", "größe", "日本語.md", "e\u0301", "\u202Ertl", "👩‍💻", "...", "..a", "-rf", "$HOME", "ab:c@d e",
		strings.Repeat("x", 255), "sub dir#/f?%",
	}
	if runtime.GOOS != "darwin" {
		names = append(names, "latin\xe9", "\xff\xfe", "half\xe2\x82")
	}
	root := plant(t, map[string]string{"planted/SKILL.md": entryDocument("planted")})
	s := snapshot(t, catalog.Root{Path: root})
	planted, ok := s.Lookup("planted")
	if !ok {
		t.Fatal("the skill is not published")
	}
	for _, name := range names {
		write(t, filepath.Join(planted.Dir, name), "content of "+name)
	}
	tree := opened(t)(resources.OpenSkill(planted))
	entries, _, err := tree.List(".", 2)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, entry := range entries {
		if entry.Dir || entry.Path == "SKILL.md" {
			continue
		}
		roundTrip(t, s, planted, entry.Path)
		_, file, err := resources.Resolve(s, resources.URI(planted, entry.Path))
		if err != nil {
			t.Error(err)
			continue
		}
		content, err := tree.Read(file, resources.Range{})
		if err != nil || string(content.Data) != "content of "+entry.Path {
			t.Errorf("%q gives %q, %v", entry.Path, content.Data, err)
		}
		read++
	}
	if read != len(names) {
		t.Errorf("%d of %d names were listed: %+v", read, len(names), entries)
	}
}

// The kernel's files claim to be empty; they are read all the same.
func TestFilesThatClaimToBeEmpty(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc/self/status")
	}
	tree := open(t, "/proc/self")
	got, err := tree.Read("status", resources.Range{})
	if err != nil || !strings.HasPrefix(string(got.Data), "Name:") || !got.Text || got.Size != int64(len(got.Data)) {
		t.Errorf("Read gives %d of %d bytes, text %v, %v", len(got.Data), got.Size, got.Text, err)
	}
	got, err = tree.Read("status", resources.Range{Length: 5})
	if err != nil || string(got.Data) != "Name:" || got.Next != 5 || got.Size < 5 {
		t.Errorf("a page is %q of %d bytes, next %d, %v", got.Data, got.Size, got.Next, err)
	}
	_, err = tree.Read("status", resources.Range{Offset: 1 << 20})
	wantRule(t, err, resources.OutOfRange)
	_, err = tree.ReadAll("status", 10)
	wantRule(t, err, resources.TooLarge)
}

// However a name is swapped while it is read, nothing outside is given.
func TestSwapWhileReading(t *testing.T) {
	t.Parallel()
	dir, outside := hostile(t)
	// Renames replace in one step, so that the name is always there: first
	// an honest file or directory, then a link out.
	write(t, filepath.Join(dir, "honest/secret.txt"), "honest")
	states := []map[string]string{
		{"swapped.txt": "honest/secret.txt", "swapdir": "honest"},
		{"swapped.txt": filepath.Join(outside, "secret.txt"), "swapdir": outside},
		{"swapped.txt": "fifo", "swapdir": "fifo"},
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() { stopped <- swap(dir, states, stop) }()
	defer func() {
		close(stop)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	}()
	tree, untrusted := open(t, dir), opened(t)(resources.OpenUntrusted(dir))
	digests := new(resources.Digests)
	secretDigest := digestOf(secret)
	var read, refused int
	for deadline := time.Now().Add(time.Minute); read < 1000 || refused < 1000; {
		if time.Now().After(deadline) {
			t.Fatalf("%d reads succeeded and %d were refused: nothing is swapped", read, refused)
		}
		for _, name := range []string{"swapped.txt", "swapdir/secret.txt"} {
			for _, tree := range []*resources.Tree{tree, untrusted} {
				content, err := tree.Read(name, resources.Range{})
				if err != nil {
					refused++
					if ruleOf(err) == "" {
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
	for range 50 {
		manifest, err := digests.Manifest(t.Context(), skill(dir))
		if err != nil && ruleOf(err) == "" {
			t.Fatal(err)
		}
		for _, file := range manifest.Files {
			if file.Digest == secretDigest {
				t.Fatalf("the manifest has the digest of what lies outside for %s", file.Path)
			}
		}
	}
}

// Whatever name is asked for, nothing outside is given, and all that is given
// can be told by the directory itself.
func FuzzContainment(f *testing.F) {
	dir, _ := hostile(f)
	names := []string{
		"SKILL.md", "alias.md", "out.txt", "outdir/secret.txt", "docs/outchain", "passwd", "proc/etc/passwd", "docs/../out.txt",
		"docs/v2/docs/v2/notes.md", "../outside/secret.txt", "/etc/passwd", "docs//./guide.md", "loop/x", ".git/config", "latest/\xff",
	}
	seeded(f, len(names))
	for _, name := range names {
		f.Add(name)
	}
	tree, untrusted := open(f, dir), opened(f)(resources.OpenUntrusted(dir))
	f.Fuzz(func(t *testing.T, name string) {
		for _, tree := range []*resources.Tree{tree, untrusted} {
			content, err := tree.Read(name, resources.Range{})
			if err != nil {
				wantRule(t, err, ruleOf(err))
			} else if host, err := os.ReadFile(filepath.Join(dir, content.Path)); err != nil || !bytes.Equal(host, content.Data) {
				t.Errorf("Read(%q) gives %q, but %s is %q, %v", name, content.Data, content.Path, host, err)
			}
			if bytes.Contains(content.Data, []byte("SECRET")) || bytes.Contains(content.Data, []byte("root:")) {
				t.Errorf("Read(%q) gives what lies outside", name)
			}
			entries, _, err := tree.List(name, 2)
			if err != nil {
				wantRule(t, err, ruleOf(err))
			}
			for _, entry := range entries {
				if strings.Contains(entry.Path, "secret") || strings.Contains(entry.Path, "..") {
					t.Errorf("List(%q) gives %s", name, entry.Path)
				}
			}
		}
	})
}

// swap puts links in place, one state after the other, until stop.
func swap(dir string, states []map[string]string, stop <-chan struct{}) error {
	next, real := filepath.Join(dir, "next~"), filepath.Join(dir, "real~")
	if err := os.WriteFile(real, []byte("honest"), 0o644); err != nil {
		return err
	}
	for i := 0; ; i++ {
		for name, target := range states[i%len(states)] {
			if err := os.Symlink(target, next); err != nil {
				return err
			}
			if err := os.Rename(next, filepath.Join(dir, name)); err != nil {
				return err
			}
		}
		// Between the links a real file. It is moved and not written anew,
		// because a rename of new data waits for the disk.
		if err := os.Rename(real, filepath.Join(dir, "swapped.txt")); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(dir, "swapped.txt"), real); err != nil {
			return err
		}
		select {
		case <-stop:
			return nil
		default:
		}
	}
}
