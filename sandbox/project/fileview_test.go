package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
)

// A run sees the files that were named, as they were when it began, and nothing
// of their neighbours.
func TestFileView(t *testing.T) {
	t.Parallel()
	dir := testfiles.Dir(t, map[string]string{"form.pdf": "one", "neighbour": "secret", "late": "x"})
	base := t.TempDir()
	view, err := project.NewFileView(base, dir, []string{"form.pdf", "late"})
	if err != nil {
		t.Fatal(err)
	}
	view.SettleAtOnce()
	first := lent(t, view)
	shows(t, first, map[string]string{"form.pdf": "one", "late": "x"})

	testfiles.Write(t, filepath.Join(dir, "form.pdf"), "longer")
	if err := os.Remove(filepath.Join(dir, "late")); err != nil {
		t.Fatal(err)
	}
	second := lent(t, view)
	shows(t, second, map[string]string{"form.pdf": "longer"})
	shows(t, first, map[string]string{"form.pdf": "one", "late": "x"})
	first.Release()
	first.Release()
	if _, err := os.Stat(first.Layers[0]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("copies that nobody uses are still there: %v", err)
	}
	if again := lent(t, view); again.Layers[0] != second.Layers[0] {
		t.Error("what has not changed is copied again")
	}
	if err := view.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(base); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

// A file that was changed just before it was copied can be changed again without
// a trace in its times: it is copied again.
func TestFileViewOfWhatHasJustChanged(t *testing.T) {
	t.Parallel()
	dir := testfiles.Dir(t, map[string]string{"form.pdf": "one"})
	view, err := project.NewFileView(t.TempDir(), dir, []string{"form.pdf"})
	if err != nil {
		t.Fatal(err)
	}
	first, second := lent(t, view), lent(t, view)
	if second.Layers[0] == first.Layers[0] {
		t.Error("the copy is believed to be that of a file that may have changed since")
	}
	shows(t, second, map[string]string{"form.pdf": "one"})
}

// What came in the place of a file is not followed.
func TestFileViewOfWhatBecameSomethingElse(t *testing.T) {
	t.Parallel()
	dir := testfiles.Dir(t, map[string]string{"secret": "s"})
	if err := os.Symlink("secret", filepath.Join(dir, "form.pdf")); err != nil {
		t.Skip(err)
	}
	view, err := project.NewFileView(t.TempDir(), dir, []string{"form.pdf"})
	if err != nil {
		t.Fatal(err)
	}
	lease, err := view.Acquire(t.Context())
	var refusal *project.Refusal
	if !errors.As(err, &refusal) {
		t.Errorf("a link is shown: %v, %v", lease, err)
	}
}

func lent(t *testing.T, view *project.FileView) *project.Lease {
	t.Helper()
	lease, err := view.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func shows(t *testing.T, lease *project.Lease, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(lease.Layers[0])
	if err != nil || len(lease.Layers) != 1 || len(entries) != len(want) {
		t.Fatalf("layers %q hold %v: %v", lease.Layers, entries, err)
	}
	for name, content := range want {
		if got, err := os.ReadFile(filepath.Join(lease.Layers[0], name)); err != nil || string(got) != content {
			t.Errorf("%s holds %q: %v", name, got, err)
		}
	}
}
