package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
)

// newTerminal returns both ends of a terminal. Who has at closes it.
func newTerminal(t *testing.T) (control, at *os.File) {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals: %v", err)
	}
	t.Cleanup(func() { control.Close() })
	fd := int(control.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if at, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return control, at
}

// atTerminal runs the program at a terminal at which these lines are typed.
func atTerminal(t *testing.T, lines string, args ...string) (code int, shown string) {
	t.Helper()
	control, at := newTerminal(t)
	if _, err := control.WriteString(lines); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		all, _ := io.ReadAll(control) // it ends with an error when nobody has the other end open
		read <- string(all)
	}()
	code = run(t.Context(), args, at, at, at)
	at.Close()
	return code, <-read
}

// At a terminal a call shows what its program changed and asks; apply asks too.
func TestAsksAtATerminal(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "configs", "HOME": "home"} {
		t.Setenv(name, filepath.Join(base, dir))
	}
	project, skill := filepath.Join(base, "project"), filepath.Join(base, "skills", "report")
	for _, dir := range []string{project, skill} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte("---\nname: report\ndescription: Reports.\n---\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	change := func(command string) []string {
		return []string{"call", "--sandbox=unsafe-host", "--project", project, "--root", filepath.Dir(skill), "exec", "name=report", "command=" + command}
	}
	for _, test := range []struct {
		name, typed string
		args        []string
		code        int
		shown, file string // what the file holds then
	}{
		{"no", "n\n", change("echo one > a"), exit.OK, "Nothing was changed.", ""},
		{"nothing", "\n", change("echo one > a"), exit.OK, "[y/N]", ""},
		{"neither", "yes please\n", change("echo one > a"), exit.OK, "Nothing was changed.", ""},
		{"yes", "y\n", change("echo one > a"), exit.OK, "\x1b[32m+one", "one\n"},
		{"what would clear the screen", "y\n", change(`printf '\033[2Jtwo' > a`), exit.OK, `\u001b[2Jtwo`, "\x1b[2Jtwo"},
		{"a run that fails", "yes\n", change("echo three > a; exit 3"), exit.Failure, "Take it back with", "three\n"},
		{"a run that changes nothing", "y\n", change("cat a"), exit.OK, "three", "three\n"},
	} {
		code, shown := atTerminal(t, test.typed, test.args...)
		content, _ := os.ReadFile(filepath.Join(project, "a"))
		if code != test.code || string(content) != test.file || !strings.Contains(shown, test.shown) {
			t.Errorf("%s: exits with %d, leaves %q and shows\n%s", test.name, code, content, shown)
		}
		if asks := strings.Contains(shown, "Write this to "+project+"? [y/N]"); asks != (test.name != "a run that changes nothing") {
			t.Errorf("%s: asks: %v", test.name, asks)
		}
	}
}
