//go:build unix

package testdata

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const sparseBytes = 1 << 30

// addSpecial makes what only Unix systems have.
func addSpecial(b builder) {
	pipe := b.skill("fifo-file", "A FIFO where a file is expected")
	b.try("a FIFO", syscall.Mkfifo(pipe.path("references/pipe.md"), 0o644))
	b.try("a FIFO as SKILL.md", syscall.Mkfifo(b.path("fifo-entry/SKILL.md"), 0o644))

	socket := b.skill("socket-file", "A socket where a file is expected")
	b.try("a socket", makeSocket(socket.path("references/socket.md")))

	device := b.skill("device-file", "A device where a file is expected")
	b.try("a device", makeDevice(device.path("references/zero.md")))

	sparse := b.skill("sparse-file", "A file of one GiB")
	sparse.file("assets/huge.bin", "head")
	b.try("a sparse file", os.Truncate(sparse.path("assets/huge.bin"), sparseBytes))
	huge := b.skill("sparse-entry", "A SKILL.md of one GiB")
	b.try("a sparse SKILL.md", os.Truncate(huge.path("SKILL.md"), sparseBytes))

	addOddNames(b)
	addUnreadable(b)
}

// makeSocket binds a socket where the path is short, since the system bounds
// its length, and moves it to its place.
func makeSocket(path string) error {
	short, err := os.MkdirTemp("", "s")
	if err != nil {
		return err
	}
	defer os.RemoveAll(short)
	bound := filepath.Join(short, "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: bound, Net: "unix"})
	if err != nil {
		return err
	}
	listener.SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		return err
	}
	return os.Rename(bound, path)
}

func addOddNames(b builder) {
	in := b.skill("odd-names", "File names that are legal and hard to handle")
	names := []string{
		"line\nbreak.md", "return\rhere.md", "tab\there.md", "escape\x1b[31m.md",
		`back\slash.md`, `..\outside.md`, `quote"s and 'quotes'.md`, "<tag>&amp;.md", "a:b?c*d|e;f.md",
		" leading space.md", "trailing space ", "trailing dot.", "...", "..hidden", "~", "CON",
		"\xff\xfe.md", "caf\xe9.md", "right-\u202egpj.md", "zero\u200bwidth.md", "e\u0301 or \u00e9.md",
		strings.Repeat("n", 252) + ".md",
	}
	for _, name := range names {
		path := in.path("references/x")
		path = path[:len(path)-1] + name
		b.try(fmt.Sprintf("a file named %q", name), os.WriteFile(path, []byte("odd\n"), 0o644))
	}
	for name, dir := range map[string]string{"odd-line-break": "odd-line\nbreak", "odd-bytes": "odd-bytes-\xff"} {
		path := filepath.Join(b.dir, dir)
		if err := os.Mkdir(path, 0o755); err != nil {
			b.try(fmt.Sprintf("a directory named %q", dir), err)
			continue
		}
		builder{b.t, path}.file("SKILL.md", entry(name, "A directory with an odd name"))
	}
}

// addUnreadable makes what only root can read, and makes it readable again
// for the removal of the temporary directory.
func addUnreadable(b builder) {
	if os.Geteuid() == 0 {
		b.t.Log("testdata: running as root, who can read what is made unreadable")
	}
	file := b.skill("unreadable-file", "A file without any permission")
	file.file("references/secret.md", "secret\n")
	b.forbid(file.path("references/secret.md"))

	unreadable := b.skill("unreadable-entry", "A SKILL.md without any permission")
	b.forbid(unreadable.path("SKILL.md"))

	dir := b.skill("unreadable-directory", "A directory without any permission")
	dir.file("references/secret.md", "secret\n")
	b.forbid(filepath.Dir(dir.path("references/secret.md")))
}

// forbid takes all permissions from a path until the test ends.
func (b builder) forbid(path string) {
	b.t.Helper()
	if err := os.Chmod(path, 0); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := os.Chmod(path, 0o755); err != nil && !os.IsNotExist(err) {
			b.t.Errorf("testdata: cannot give the permissions back: %v", err)
		}
	})
}
