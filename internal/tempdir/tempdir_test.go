package tempdir_test

import (
	"bufio"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
)

// holderBase tells a copy of this program to make a directory there, to print
// its path and to wait for the end of its input.
const holderBase = "TEMPDIR_TEST_BASE"

func TestMain(m *testing.M) {
	base := os.Getenv(holderBase)
	if base == "" {
		os.Exit(m.Run())
	}
	var err error
	if held, err = tempdir.New(base, "test-"); err == nil {
		err = os.WriteFile(filepath.Join(held.Path(), "file"), nil, 0o600)
	}
	if err != nil {
		panic(err)
	}
	held.Reaped()
	os.Stdout.WriteString(held.Path() + "\n")
	io.Copy(io.Discard, os.Stdin) // until it is killed, or the test ends
}

// held is a variable of the package so that no garbage collection ends it.
var held *tempdir.Dir

// hold starts a process that has a directory in base.
func hold(t *testing.T, base string) (dir string, kill func()) {
	t.Helper()
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), holderBase+"="+base)
	_, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := process.StdoutPipe()
	if err == nil {
		err = process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = process.Process.Kill()
		_ = process.Wait() // says that it was killed
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n"), kill
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// open makes a directory and closes it, which waits for the reaping.
func open(t *testing.T, base string) {
	t.Helper()
	dir, err := tempdir.New(base, "test-")
	if err == nil {
		err = dir.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestDirIsPrivateAndRemoved(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "made", "too")
	dir, err := tempdir.New(base, "test-")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir.Path())
	if err != nil || info.Mode() != fs.ModeDir|0o700 && runtime.GOOS != "windows" {
		t.Errorf("%v, %v", info, err)
	}
	if !strings.HasPrefix(filepath.Base(dir.Path()), "test-") {
		t.Errorf("the name is %s", filepath.Base(dir.Path()))
	}
	if err := os.Mkdir(filepath.Join(dir.Path(), "locked"), 0); err != nil {
		t.Fatal(err)
	}
	if err := dir.Close(); err != nil || exists(dir.Path()) {
		t.Errorf("after Close: %v", err)
	}
}

func TestBaseIsNoDirectory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if dir, err := tempdir.New(file, "test-"); err == nil {
		t.Errorf("made %s", dir.Path())
	}
}

func TestKilledProcessesAreCleanedUpAfter(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no locks on directories")
	}
	base := t.TempDir()
	dead, kill := hold(t, base)
	living, _ := hold(t, base)
	mine, err := tempdir.New(base, "test-")
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	mine.Reaped()
	others := []string{"other-x", "test", ".new-test-young"}
	for _, name := range others {
		if err := os.Mkdir(filepath.Join(base, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(base, "other-x"), filepath.Join(base, "test-link")); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(base, ".new-test-old")
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	open(t, base)
	if !exists(dead) {
		t.Fatal("the directory of a living process was removed")
	}
	kill()
	open(t, base)
	if exists(dead) || exists(old) {
		t.Error("a directory stayed behind")
	}
	for _, dir := range []string{living, mine.Path()} {
		if !exists(dir) {
			t.Errorf("%s is in use and was removed", dir)
		}
	}
	for _, name := range append(others, "test-link") {
		if !exists(filepath.Join(base, name)) {
			t.Errorf("%s was removed", name)
		}
	}
}

// Directories of other users stay, even where we could remove them.
func TestOtherUsersDirectoriesStay(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	base := t.TempDir()
	foreign := filepath.Join(base, "test-foreign")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(foreign, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	open(t, base)
	if !exists(foreign) {
		t.Error("another user's directory was removed")
	}
}
