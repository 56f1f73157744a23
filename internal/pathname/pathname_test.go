package pathname_test

import (
	"path/filepath"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
)

func TestWithin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		path, dir string
		want      bool
	}{
		{"/a", "/a", true},
		{"/a/b", "/a", true},
		{"/a/b/c", "/a", true},
		{"/ab", "/a", false},
		{"/a", "/a/b", false},
		{"/", "/", true},
		{"/a", "/", true},
		{"a/b", "a", true},
	} {
		path, dir := filepath.FromSlash(test.path), filepath.FromSlash(test.dir)
		if got := pathname.Within(path, dir); got != test.want {
			t.Errorf("%s in %s: %v", path, dir, got)
		}
	}
}
