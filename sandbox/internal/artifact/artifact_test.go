package artifact_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
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

func write(t testing.TB, file string) {
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

func TestDigests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before := take(t, dir)
	write(t, filepath.Join(dir, "empty"))
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte("hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int64{"fits": sandbox.MaxDigestBytes - 6, "too much": sandbox.MaxDigestBytes} {
		if err := errors.Join(os.WriteFile(filepath.Join(dir, name), nil, 0o644), os.Truncate(filepath.Join(dir, name), size)); err != nil {
			t.Fatal(err)
		}
	}
	changes, err := artifact.Collect(dir, before)
	list, omitted := changes.Changed, changes.Omitted
	if err != nil || omitted != 0 || len(list) != 4 {
		t.Fatalf("%v, %d omitted, %v", list, omitted, err)
	}
	if !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(list[1].Digest) || list[1].Path != "fits" {
		t.Errorf("the last that fits: %+v", list[1])
	}
	list[1].Digest = ""
	want := []sandbox.Artifact{
		{Path: "empty", Digest: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{Path: "fits", Size: sandbox.MaxDigestBytes - 6},
		{Path: "text", Size: 6, Digest: "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"},
		{Path: "too much", Size: sandbox.MaxDigestBytes},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// While another run keeps putting a link to a file outside in the place of a
// file, and back, a digest is that of the file or there is none.
func TestDigestsFollowNoLink(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	name := filepath.Join(dir, "swapped")
	if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, step := range []error{
				os.WriteFile(name+".new", []byte("public"), 0o644), os.Rename(name+".new", name),
				os.Symlink(outside, name+".link"), os.Rename(name+".link", name),
			} {
				if step != nil {
					t.Error(step)
					return
				}
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	before := take(t, t.TempDir())
	const public = "sha256:efa1f375d76194fa51a3556a97e641e61685f914d446979da50a551a4333ffd7"
	for found := 0; found < 200; {
		changes, err := artifact.Collect(dir, before)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range changes.Changed {
			if file.Path != "swapped" || file.Digest == "" {
				continue
			}
			found++
			if file.Digest != public {
				t.Fatalf("the digest of something else: %+v", file)
			}
		}
	}
}
