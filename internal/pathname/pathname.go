// Package pathname compares the names of files as text, without looking at
// the files.
package pathname

import (
	"path/filepath"
	"strings"
)

// Within reports whether path is dir or lies below it. Both are clean.
func Within(path, dir string) bool {
	if path == dir {
		return true
	}
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator)))
	return ok && rest != "" && rest[0] == filepath.Separator
}
