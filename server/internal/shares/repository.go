package shares

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// inRepository returns the path that rules are to judge of what is in a git
// directory of the user's that has a name of its own, such as a bare repository:
// that in a .git in its place. It runs code like one, and programs do not see its
// configuration as it is. Those that have git's names are known to the rules.
func (j judgement) inRepository(name string) (inside string, found bool) {
	if j.prefix != "" || slices.ContainsFunc(strings.Split(name, "/"), gitNamed) {
		return "", false
	}
	for dir := name; dir != "."; dir = path.Dir(dir) {
		if j.isRepository(dir) {
			return dir + "/" + GitPrefix + strings.TrimPrefix(name[len(dir):], "/"), true
		}
	}
	return "", false
}

// gitNamed reports whether rules take a directory of this name for git's.
func gitNamed(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".git") }

// isRepository reports whether the user has a repository at a path, by what views
// take for one.
func (j judgement) isRepository(dir string) bool {
	is, known := j.repositories[dir]
	if !known {
		is = j.has(dir, "HEAD", "head") && j.has(dir, "objects", "OBJECTS", "commondir")
		j.repositories[dir] = is
	}
	return is
}

// has reports whether one of the names is in a directory of the user's.
func (j judgement) has(dir string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, err := os.Lstat(filepath.Join(j.set.Target().Path, filepath.FromSlash(dir), name))
		return err == nil
	})
}
