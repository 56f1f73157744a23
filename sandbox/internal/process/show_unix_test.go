//go:build unix

package process_test

import (
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
)

// What is shown has nothing to do with what is shared: it shows nothing that a
// share hides, and lets nobody look at changes.
func TestShowBesideShares(t *testing.T) {
	t.Parallel()
	dir := testfiles.Dir(t, map[string]string{
		"home/project/lib/x": "", "home/other/x": "", "mask/x": "", "changes/x": "", "workspace/x": "", "elsewhere/x": "",
	})
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	share := sandbox.Share{
		Path: in("home/project"), Layers: []string{in("mask"), in("home/project")},
		Access: sandbox.AccessReview, Changes: in("changes"),
	}
	for _, c := range []struct {
		name, rule string
		shown      bool
	}{
		{"elsewhere", "", true},
		{"home/other", "", true},
		{"home/project", "", false},
		{"home/project/lib", "", false},
		{"home", "show-refused", false},
		{"mask", "show-refused", false},
		{"mask/x", "show-refused", false},
		{"changes", "spec-invalid", false},
		{"changes/x", "spec-invalid", false},
		{"home/project/gone", "", false}, // as the share has it
	} {
		runner := process.NewRunner(sandbox.Info{}, slog.New(slog.DiscardHandler))
		defer runner.Close()
		var shown []string
		_, err := runner.Run(t.Context(), sandbox.Spec{Workspace: in("workspace"), Shares: []sandbox.Share{share}, Show: []string{in(c.name)}},
			func(spec sandbox.Spec) (process.Start, error) {
				shown = spec.Show
				return nil, &sandbox.SetupError{Rule: "program-missing"}
			})
		want := c.rule
		if want == "" {
			want = "program-missing"
		}
		if setup := new(sandbox.SetupError); !errors.As(err, &setup) || setup.Rule != want {
			t.Errorf("%s: %v, want the rule %q", c.name, err, c.rule)
		}
		if slices.Contains(shown, in(c.name)) != c.shown {
			t.Errorf("with %s the backend is to show %q", c.name, shown)
		}
	}
}
