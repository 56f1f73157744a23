package artifact_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/artifact"
)

func take(t *testing.T, dir string) *artifact.Snapshot {
	t.Helper()
	snapshot, err := artifact.Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

func write(t *testing.T, file string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
}

func TestPrivateDirIsLeftOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before := take(t, dir)
	write(t, filepath.Join(dir, sandbox.PrivateDir, "private"))
	write(t, filepath.Join(dir, "sub", sandbox.PrivateDir, "public"))
	list, omitted := take(t, dir).Since(before)
	want := []sandbox.Artifact{{Path: "sub/" + sandbox.PrivateDir + "/public"}}
	if diff := cmp.Diff(want, list); diff != "" || omitted != 0 {
		t.Errorf("%d omitted %s", omitted, diff)
	}
}

func TestMissingWorkspace(t *testing.T) {
	t.Parallel()
	if _, err := artifact.Take(filepath.Join(t.TempDir(), "gone")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestDepthIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before := take(t, dir)
	write(t, filepath.Join(dir, strings.Repeat("d/", 64)+"seen"))
	write(t, filepath.Join(dir, strings.Repeat("d/", 65)+"unseen"))
	list, omitted := take(t, dir).Since(before)
	if len(list) != 1 || !strings.HasSuffix(list[0].Path, "/seen") || omitted != 1 {
		t.Errorf("%v, %d omitted", list, omitted)
	}
}

func TestUnreadableDirIsOmitted(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("permissions do not hold for root")
	}
	dir := t.TempDir()
	before := take(t, dir)
	locked := filepath.Join(dir, "locked")
	write(t, filepath.Join(locked, "file"))
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(locked, 0o700) })
	if list, omitted := take(t, dir).Since(before); len(list) != 0 || omitted != 1 {
		t.Errorf("%v, %d omitted", list, omitted)
	}
}
