package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
)

// TestMillionFiles: a directory with as many files as may be there is shown, with
// the one secret in it hidden, and one with a file more is refused.
func TestMillionFiles(t *testing.T) {
	testenv.Variant(t, "the bound of files, which other tests lower")
	const dirs, inEach = 100, project.DefaultMaxEntries/100 - 1 // and the directory itself
	top := manyFiles(t, dirs, inEach)
	// Links take no room, and count like files.
	view := newView(t, project.ViewOptions{Dir: top, MaxTime: time.Hour})
	if err := os.Rename(filepath.Join(top, "50", "0"), filepath.Join(top, "50", ".env")); err != nil {
		t.Fatal(err)
	}
	lease, err := view.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(lease.Masked) != 1 || lease.Masked[0].Path != "50/.env" {
		t.Errorf("masked are %v", lease.Masked)
	}
	lease.Release()
	if err := os.WriteFile(filepath.Join(top, "99", "more"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = view.Acquire(t.Context())
	refusal := (*project.Refusal)(nil)
	if !errors.As(err, &refusal) || refusal.Rule != project.RuleTooLarge {
		t.Errorf("one file more: %v", err)
	}
}

// manyFiles makes directories of files that are links to a few, in memory where
// the system has a file system there.
func manyFiles(t *testing.T, dirs, inEach int) (top string) {
	t.Helper()
	base := "/dev/shm"
	if info, err := os.Stat(base); err != nil || !info.IsDir() {
		base = ""
	}
	top, err := os.MkdirTemp(base, "million-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	for i := range dirs {
		dir := filepath.Join(top, strconv.Itoa(i))
		first := filepath.Join(dir, "0")
		if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(first, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		for j := 1; j < inEach; j++ {
			if err := os.Link(first, filepath.Join(dir, strconv.Itoa(j))); err != nil {
				t.Fatal(err)
			}
		}
	}
	return top
}
