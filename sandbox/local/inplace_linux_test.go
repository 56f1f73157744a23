//go:build amd64 || arm64

package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/layers"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// largeProject is a project that is too large to be copied, in which something is
// hidden.
func largeProject(t *testing.T) sandbox.Share {
	t.Helper()
	base, err := os.MkdirTemp("", "large-") // every user may pass to it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	user, mask, outside := filepath.Join(base, "project"), filepath.Join(base, "mask"), filepath.Join(base, "outside")
	testfiles.Fill(t, base, map[string]string{
		"project/README.md": "read me\n", "project/src/deep/main.c": "int main;\n", "project/.env": "secret\n",
		"project/.git/config": "secret\n", "project/.git/HEAD": "ref\n", "project/keys/id/key": "secret\n", "project/keys/public": "public\n",
		"project/closed/a": "secret\n", "outside/file": "secret\n", "mask/.git/config": "without\n", "mask/keys/": "",
		"mask/closed/": "",
	})
	err = errors.Join(
		os.Chmod(base, 0o755),
		unix.Mknod(filepath.Join(mask, ".env"), unix.S_IFCHR, 0), unix.Mknod(filepath.Join(mask, "keys/id"), unix.S_IFCHR, 0),
		unix.Setxattr(filepath.Join(mask, "closed"), "user.overlay.opaque", []byte("y"), 0),
		os.Symlink(outside, filepath.Join(user, "out")), os.Symlink(filepath.Join(outside, "file"), filepath.Join(user, "keys/out")),
		os.Symlink(".env", filepath.Join(user, "in")))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(user, strings.Repeat("deep/", layers.MaxDepth+1)), 0o755); err != nil {
		t.Fatal(err)
	}
	return sandbox.Share{Path: user, Layers: []string{mask, user}, Access: sandbox.AccessReview, Changes: t.TempDir()}
}

// What is too large to be copied is read where it is, but for what is hidden.
func TestSharesTooLargeRestricted(t *testing.T) {
	t.Parallel()
	share := largeProject(t)
	backend := opener(local.Restricted)(t)
	defer backend.Close()
	run := func(shell string) (string, sandbox.Shared) {
		t.Helper()
		result, err := backend.Run(t.Context(), sandbox.Spec{
			Shell: shell, Workspace: t.TempDir(), Shares: []sandbox.Share{share}, Project: true, InProject: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(result.Stdout.Data), result.Shared[0]
	}
	const look = `pwd; cat README.md src/deep/main.c .git/HEAD keys/public; ls src; cat .env in .git/config keys/id/key closed/a out/file keys/out; ls closed
		find . -type f -exec cat {} + | sort`
	out, shared := run(look)
	want := share.Path + "\nread me\nint main;\nref\npublic\ndeep\na\nint main;\npublic\nread me\nref\n"
	if out != want {
		t.Errorf("it reads %q, want %q", out, want)
	}
	if shared.Access != sandbox.AccessRead || shared.Path != share.Path || !strings.Contains(shared.Reason, "more than 64 directories deep") {
		t.Errorf("shared is %+v", shared)
	}
	for _, shell := range []string{`: > new`, `echo x >> README.md`, `rm README.md`, `mkdir new`, `mv src new`, `ln README.md new`} {
		if out, _ := run(shell + ` && echo done`); out != "" {
			t.Errorf("%s succeeds", shell)
		}
	}
	if held, err := os.ReadDir(filepath.Join(share.Changes, sandbox.UpperDir)); err != nil || len(held) > 0 {
		t.Errorf("held are %v, %v", held, err)
	}
}
