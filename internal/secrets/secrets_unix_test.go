//go:build unix

package secrets_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/secrets"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/internal/testprocess"
)

// A FIFO is not waited for.
func TestFIFO(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, secrets.Options{}).Value(t.Context(), "NAME", parse(t, "file:"+path))
	var failed *secrets.Error
	if !errors.As(err, &failed) || failed.Code != secrets.SourceFailed {
		t.Errorf("%v", err)
	}
}

func TestFileThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read every file")
	}
	path := filepath.Join(t.TempDir(), "token")
	testfiles.WriteMode(t, path, "value-of-a-file", 0o200)
	_, err := open(t, secrets.Options{}).Value(t.Context(), "NAME", parse(t, "file:"+path))
	var failed *secrets.Error
	if !errors.As(err, &failed) || failed.Code != secrets.SourceFailed || !strings.Contains(failed.Reason, "may not read") {
		t.Errorf("%v", err)
	}
}

// What a program started and left, with its output open, neither is waited for nor
// stays behind at the timeout.
func TestChildrenOfPrograms(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	dir := t.TempDir()
	testfiles.WriteMode(t, filepath.Join(dir, "script"), "sleep 600 & echo $! > "+dir+"/child; wait\n", 0o600)
	store := open(t, secrets.Options{Timeout: time.Second})
	_, err = store.Value(t.Context(), "NAME", parse(t, "command:"+shell+" "+filepath.Join(dir, "script")))
	var failed *secrets.Error
	if !errors.As(err, &failed) || failed.Code != secrets.SourceTimeout {
		t.Errorf("%v", err)
	}
	child, err := os.ReadFile(filepath.Join(dir, "child"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(child)))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if !testprocess.Alive(pid) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the child is there still")
		}
	}
}
