//go:build unix

package catalog_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSpecialFiles would hang, rather than fail, on an entry document that
// is opened without care.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"good/SKILL.md": skillText("good", "x"), "fifo/x": "", "socket/x": "", "linked/x": ""})
	check(t, os.MkdirAll(filepath.Join(dir, "directory/SKILL.md"), 0o755))
	check(t, syscall.Mkfifo(filepath.Join(dir, "fifo/SKILL.md"), 0o644))
	check(t, syscall.Mkfifo(filepath.Join(dir, "fifo/tools.json"), 0o644))
	check(t, syscall.Mkfifo(filepath.Join(dir, "packed.skill"), 0o644))
	check(t, syscall.Mkfifo(filepath.Join(dir, "linked/pipe"), 0o644))
	check(t, os.Symlink("pipe", filepath.Join(dir, "linked/SKILL.md")))
	check(t, os.Symlink("/dev/zero", filepath.Join(dir, "zero.skill")))
	socket, err := net.Listen("unix", filepath.Join(dir, "socket/SKILL.md"))
	if err != nil {
		t.Skipf("the temporary directory's path is too long for a socket: %v", err)
	}
	defer socket.Close()

	s := openDirs(t, dir).Snapshot()
	wantNames(t, s, "good")
	wantRules(t, s.Problems(), "entry-type")
	if len(s.Problems()) != 4 {
		t.Errorf("%d problems, want one of each kind of file: %v", len(s.Problems()), s.Problems())
	}
	wantRules(t, openDirs(t, filepath.Join(dir, "fifo/SKILL.md")).Snapshot().Problems(), "root-type")
}

func TestDevice(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"device/x": ""})
	if err := syscall.Mknod(filepath.Join(dir, "device/SKILL.md"), syscall.S_IFCHR|0o666, 1<<8|5); err != nil {
		t.Skipf("making a device takes root: %v", err)
	}
	s := openDirs(t, dir).Snapshot()
	wantNames(t, s, "")
	wantRules(t, s.Problems(), "entry-type")
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root can read everything")
	}
	dir := plant(t, map[string]string{
		"good/SKILL.md": skillText("good", "x"), "file/SKILL.md": skillText("file", "x"), "dir/in/SKILL.md": skillText("in", "x"),
	})
	check(t, os.Chmod(filepath.Join(dir, "file/SKILL.md"), 0))
	check(t, os.Chmod(filepath.Join(dir, "dir"), 0))
	t.Cleanup(func() { check(t, os.Chmod(filepath.Join(dir, "dir"), 0o755)) })
	s := openDirs(t, dir, filepath.Join(dir, "dir/in")).Snapshot()
	wantNames(t, s, "good")
	wantRules(t, s.Problems(), "directory-unreadable entry-unreadable root-unreadable")
	for _, p := range s.Problems() {
		if strings.Contains(p.Message, dir) {
			t.Errorf("the message repeats the path: %s", p.Message)
		}
	}
}

// TestSparseGiant reads the beginning only of a file of 1 GiB.
func TestSparseGiant(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{
		"open/SKILL.md": "---\nname: open\n", "closed/SKILL.md": skillText("closed", "x"), "zeros/SKILL.md": "",
	})
	for _, name := range []string{"open", "closed", "zeros"} {
		check(t, os.Truncate(filepath.Join(dir, name, "SKILL.md"), 1<<30))
	}
	s := openDirs(t, dir).Snapshot()
	wantNames(t, s, "closed")
	wantRules(t, s.Problems(), "frontmatter-missing frontmatter-size")
}

func TestTenThousandFiles(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"big/SKILL.md": skillText("big", "x")})
	for i := range 10_000 { // hard links are made faster than files
		check(t, os.Link(filepath.Join(dir, "big/SKILL.md"), filepath.Join(dir, "big", fmt.Sprintf("%05d.txt", i))))
	}
	wantNames(t, openDirs(t, dir).Snapshot(), "big")
}

func TestNamesThatAreNotUTF8(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"a/SKILL.md": skillText("a", "x")})
	if err := os.MkdirAll(filepath.Join(dir, "b\xff"), 0o755); err != nil {
		t.Skipf("this file system takes UTF-8 names only: %v", err)
	}
	write(t, filepath.Join(dir, "b\xff/SKILL.md"), skillText("b", "x"))
	s := openDirs(t, dir).Snapshot()
	wantNames(t, s, "a b")
	wantRules(t, s.Problems(), "name-directory")
}

// TestDeletedDuringScan scans while directories come and go: no scan may
// fail, and what stands all the time is always there.
func TestDeletedDuringScan(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"stays/SKILL.md": skillText("stays", "x")})
	c := openDirs(t, dir)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			name := fmt.Sprintf("s%d", i%10)
			path := filepath.Join(dir, name)
			if os.MkdirAll(path, 0o755) == nil {
				_ = os.WriteFile(filepath.Join(path, "SKILL.md"), []byte(skillText(name, "x")), 0o644)
			}
			_ = os.RemoveAll(path)
		}
	}()
	for range 100 {
		s, err := c.Rescan(t.Context())
		if err != nil {
			t.Error(err)
			break
		}
		lookup(t, s, "stays")
		if got := rules(s.Problems()); strings.Trim(got, " ") != "" && got != "frontmatter-missing" { // a file is empty until it is written
			t.Errorf("broke %q: %v", got, s.Problems())
		}
	}
	close(stop)
	<-done
}

// TestMisleadingNames: names that end lines, steer terminals or show as
// others are told of, once a directory, in words that do none of that.
func TestMisleadingNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"plain.md": "", "日本 語.md": "", "e\u0301 👩\u200d🔬.md": "", "zero\u200bwidth": "",
		"esc\x1b[2J": `"esc\x1b[2J"`, "line\nbreak": `"line\nbreak"`, "delete\x7f": `"delete\x7f"`, "a\u202egpj.sh": `"a\u202egpj.sh"`,
		"next\u0085line": `"next\u0085line"`, "a\u2028b": `"a\u2028b"`, "a\u2066b": `"a\u2066b"`,
	} {
		dir := plant(t, map[string]string{"demo/SKILL.md": skillText("demo", "x"), "demo/in/" + name: "", "demo/.git/" + name: ""})
		s := openDirs(t, dir).Snapshot()
		wantNames(t, s, "demo")
		if want == "" {
			wantRules(t, s.Problems(), "")
			continue
		}
		wantRules(t, s.Problems(), "file-name")
		if p := s.Problems()[0]; p.File != filepath.Join(dir, "demo/in") || !strings.HasSuffix(p.Message, "the first is "+want) {
			t.Errorf("%q: %s: %s", name, p.File, p.Message)
		}
	}
}
