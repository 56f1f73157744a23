package program

import (
	"path/filepath"
	"slices"
	"testing"
)

// What is not looked at can change without a test being run again.
func TestSourcesAreWhatTheServerIsBuiltFrom(t *testing.T) {
	t.Parallel()
	dirs, err := sourceDirs()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if dirs[0] != root {
		t.Errorf("the module's root is %s, want %s", dirs[0], root)
	}
	for _, want := range []string{"cmd/skills-mcp", "server", "sandbox/host", "policy", "resources", "catalog"} {
		if !slices.Contains(dirs, filepath.Join(root, filepath.FromSlash(want))) {
			t.Errorf("%s is not among the sources %q", want, dirs)
		}
	}
	if err := lookedAtSources(); err != nil {
		t.Error(err)
	}
}
