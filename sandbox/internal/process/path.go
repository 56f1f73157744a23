package process

import (
	"os/exec"
	"path/filepath"
	"strings"
)

// SearchPath is where programs are found: absolute directories only, so that
// what is found does not depend on where a program starts.
type SearchPath []string

// NewSearchPath reads the value of a PATH variable.
func NewSearchPath(list string) SearchPath {
	var dirs SearchPath
	for _, dir := range filepath.SplitList(list) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func (p SearchPath) String() string {
	return strings.Join(p, string(filepath.ListSeparator))
}

// Look is a [command.Lookup].
func (p SearchPath) Look(name string) (string, bool) {
	if filepath.IsAbs(name) {
		return findExecutable(name)
	}
	if name != filepath.Base(name) || name == "." || name == ".." {
		return "", false
	}
	for _, dir := range p {
		if found, ok := findExecutable(filepath.Join(dir, name)); ok {
			return found, true
		}
	}
	return "", false
}

// findExecutable finds the executable file of an absolute path, which on
// Windows may come without its extension.
func findExecutable(path string) (string, bool) {
	found, err := exec.LookPath(path)
	return found, err == nil
}
