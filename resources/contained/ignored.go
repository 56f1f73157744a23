package contained

import "strings"

// packages is the directory of what a package manager installed. It is no
// content of a skill, but its programs need it.
const packages = "node_modules"

// isIgnored tells the name of a file or directory that a tool left behind
// and that is no content of a skill. Letter case does not matter, because it
// may not matter to the file system.
func isIgnored(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case ".git", ".hg", ".svn", ".bzr", ".jj", "cvs", packages, "__pycache__",
		".ds_store", "__macosx", "thumbs.db", "desktop.ini",
		"4913": // vim tries with it whether a directory can be written to
		return true
	}
	switch {
	case strings.HasSuffix(name, "~"),
		strings.HasPrefix(name, "._"), // macOS on other file systems
		strings.HasPrefix(name, ".#"), // the lock of Emacs
		strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#") && len(name) > 1,
		strings.HasPrefix(name, ".") && isVimSwap(name):
		return true
	}
	return false
}

func isVimSwap(name string) bool {
	for _, suffix := range []string{".swp", ".swo", ".swn", ".swx"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// isIgnoredPath reports whether a clean path that is, or lies in, a dropping.
func isIgnoredPath(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if isIgnored(segment) {
			return true
		}
	}
	return false
}
