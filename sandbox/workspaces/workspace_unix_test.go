//go:build unix

package workspaces_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
)

// Trees deeper than there are descriptors are removed too. The test runs once
// more, in a process that may open few.
func TestWorkspacesCloseWithFewDescriptors(t *testing.T) {
	t.Parallel()
	const base = "SANDBOX_TEST_BASE"
	if dir := os.Getenv(base); dir != "" {
		all, err := workspaces.New(dir, workspaces.Options{Max: 1})
		check(t, err)
		expires := create(t, all)
		nestIn(t, expires.Dir)
		lasts := create(t, all) // at the cost of the other
		awaitGone(t, expires.Dir)
		nestIn(t, lasts.Dir)
		check(t, all.Close())
		return
	}
	dir := t.TempDir()
	command := exec.Command("sh", "-c", `ulimit -n 64 && exec "$0" -test.run='^`+t.Name()+`$'`, os.Args[0])
	command.Env = append(os.Environ(), base+"="+dir)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func nestIn(t *testing.T, dir string) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	check(t, err)
	nest(t, root, 500)
	check(t, root.Close())
}
