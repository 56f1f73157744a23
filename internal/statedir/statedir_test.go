package statedir_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/statedir"
)

func TestPath(t *testing.T) {
	home := t.TempDir()
	usual, state := filepath.Join(home, ".local", "state"), filepath.Join(home, "state")
	if runtime.GOOS == "windows" {
		usual = filepath.Join(home, "AppData", "Local")
		t.Setenv("LocalAppData", usual)
	}
	t.Setenv("HOME", home)
	for name, test := range map[string]struct{ state, name, want string }{
		"set":      {state, "grants", filepath.Join(state, "skills-mcp", "grants")},
		"not set":  {"", "grants", filepath.Join(usual, "skills-mcp", "grants")},
		"relative": {"state", "audit", filepath.Join(usual, "skills-mcp", "audit")},
		"of all":   {state, "", filepath.Join(state, "skills-mcp")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", test.state)
			if got, err := statedir.Path(test.name); err != nil || got != test.want {
				t.Errorf("%q, %v, want %q", got, err, test.want)
			}
		})
	}
}
