package advice

import (
	"path"
	"slices"
	"strings"
	"testing"
)

func FuzzRelativePaths(f *testing.F) {
	seeds := []string{
		"sh scripts/x.sh", `cat "a b" 'c"d' e\ f`, "x --in=a/b", "cd $X; y", `"unclosed`, `'`, `\`, "a/../b", "{a,b}/c", "a;b|c&d(e)<f>g\nh",
	}
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, command string) {
		paths := relativePaths(command)
		for i, name := range paths {
			if name == "" || name == "." || path.Clean(name) != name || path.IsAbs(name) || strings.HasPrefix(name, "../") || slices.Contains(paths[:i], name) {
				t.Errorf("%q gives %q", command, paths)
			}
		}
		if len(paths) > 2*maxCommandWords {
			t.Errorf("%d paths", len(paths))
		}
	})
}
