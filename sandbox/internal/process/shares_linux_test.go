package process_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// What a run has left in its working directory is gone when the next one is over,
// also where a server died while it removed that of another.
func TestWorkIsRemoved(t *testing.T) {
	t.Parallel()
	dir, changes := t.TempDir(), t.TempDir()
	work := filepath.Join(changes, sandbox.WorkDir)
	for _, left := range []string{filepath.Join(work, "work", "incompat", "volatile"), filepath.Join(changes, "used", "work")} {
		if err := errors.Join(os.MkdirAll(left, 0o700), os.Chmod(filepath.Dir(left), 0)); err != nil {
			t.Fatal(err)
		}
	}
	shares := []sandbox.Share{{Path: dir, Layers: []string{dir}, Access: sandbox.AccessReview, Changes: changes}}
	_, err := runWith(t.Context(), t, shares, func() {
		if left, err := os.ReadDir(work); err != nil || len(left) > 0 {
			t.Errorf("a run begins with %v, %v", left, err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(changes, "*")); err != nil || len(left) != 2 {
		t.Errorf("%v are left, %v", left, err)
	}
}
