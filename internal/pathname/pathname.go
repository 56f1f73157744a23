// Package pathname compares the names of files as text, without looking at
// the files.
package pathname

import (
	"path/filepath"
	"strings"
)

// Within reports whether path is dir or lies below it. Both are clean.
func Within(path, dir string) bool {
	const separator = string(filepath.Separator)
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, separator)+separator)
}
