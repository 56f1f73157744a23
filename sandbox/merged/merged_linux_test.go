package merged_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/merged"
)

func newShare(t *testing.T) sandbox.Share {
	t.Helper()
	dir := testfiles.Dir(t, map[string]string{"user/docs/a": "old", "changes/": ""})
	user := filepath.Join(dir, "user")
	return sandbox.Share{Path: user, Layers: []string{user}, Access: sandbox.AccessReview, Changes: filepath.Join(dir, "changes")}
}

func replaceBy(text string) merged.Edit {
	return merged.Edit{
		Check:  func(string, bool) error { return nil },
		Change: func([]byte) ([]byte, error) { return []byte(text), nil },
	}
}

func read(t *testing.T, share sandbox.Share, path string) string {
	t.Helper()
	opened, err := merged.Open(share, path, func(string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	data, err := io.ReadAll(opened.File)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestWriteTakesTurns: a write waits for who has the changes, as runs do, and
// comes into the changes alone.
func TestWriteTakesTurns(t *testing.T) {
	t.Parallel()
	share := newShare(t)
	run, err := os.Open(share.Changes)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if err := unix.Flock(int(run.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := merged.Write(ctx, share, "docs/a", replaceBy("new")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while a run has the changes: %v", err)
	}
	if got := read(t, share, "docs/a"); got != "old" {
		t.Errorf("it reads %q", got)
	}
	if err := unix.Flock(int(run.Fd()), unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	for path, isNew := range map[string]bool{"docs/a": false, "docs/b": true} {
		if created, err := merged.Write(t.Context(), share, path, replaceBy("new")); err != nil || created != isNew {
			t.Errorf("%s: %t, %v", path, created, err)
		}
		if got := read(t, share, path); got != "new" {
			t.Errorf("%s reads %q", path, got)
		}
	}
	if data, err := os.ReadFile(filepath.Join(share.Path, "docs/a")); err != nil || string(data) != "old" {
		t.Errorf("the user's own is %q, %v", data, err)
	}
	if _, err := os.Stat(filepath.Join(share.Path, "docs/b")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the user has %v", err)
	}
}

// TestWriteRefuses: a share without a place for changes, or whose own directory is
// behind a link, is not written to.
func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*sandbox.Share){
		"no changes": func(share *sandbox.Share) { share.Changes = "" },
		"changes in it": func(share *sandbox.Share) {
			share.Changes = filepath.Join(share.Path, "changes")
		},
		"gone": func(share *sandbox.Share) { share.Layers = []string{share.Path + "-moved"} },
		"behind a link": func(share *sandbox.Share) {
			link := share.Path + "-link"
			if err := os.Symlink(share.Path, link); err != nil {
				t.Fatal(err)
			}
			share.Layers = []string{link}
		},
	} {
		share := newShare(t)
		spoil(&share)
		if _, err := merged.Write(t.Context(), share, "docs/a", replaceBy("new")); err == nil {
			t.Errorf("%s: it was written", name)
		}
	}
}
