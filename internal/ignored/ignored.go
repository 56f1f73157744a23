// Package ignored knows the names of files and directories that tools put
// beside what people write: version control, package managers, editors and
// file managers.
package ignored

import (
	"path"
	"slices"
	"strings"
)

// Packages is the directory of what a package manager installed: no content of
// a skill, but its programs need it.
const Packages = "node_modules"

// Name reports whether a file or directory of that name is no content of a
// skill. Letter case does not matter where it may not matter to the file
// system, except for CVS: cvs can be a skill.
func Name(name string) bool {
	lower := strings.ToLower(name)
	switch lower {
	case ".git", ".hg", ".svn", ".bzr", ".jj", Packages, "__pycache__",
		".ds_store", "__macosx", "thumbs.db", "desktop.ini",
		"4913": // vim tries with it whether a directory can be written to
		return true
	}
	return name == "CVS" ||
		strings.HasSuffix(name, "~") ||
		strings.HasPrefix(name, "._") || // macOS on other file systems
		strings.HasPrefix(name, ".#") || // the lock of Emacs
		len(name) > 1 && strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#") ||
		strings.HasPrefix(name, ".") && slices.Contains(vimSwaps, path.Ext(lower))
}

// vimSwaps are the extensions of vim's swap files, which are hidden.
var vimSwaps = []string{".swp", ".swo", ".swn", ".swx"}

// Within reports whether a clean slash-separated path is, or lies in, what
// [Name] ignores.
func Within(path string) bool { return slices.ContainsFunc(strings.Split(path, "/"), Name) }

// unsearched hold files by the thousand, or those of tools. They may be part
// of a skill, such as a template, but none that its author means to publish
// lies in them.
var unsearched = map[string]bool{
	".venv": true, "venv": true, ".idea": true, ".vscode": true, ".vs": true, ".cache": true, ".tox": true, ".nox": true,
	".mypy_cache": true, ".pytest_cache": true, ".ruff_cache": true, ".direnv": true,
	".Trash": true, ".Trashes": true, ".fseventsd": true, ".Spotlight-V100": true,
}

// Directory reports whether no skill is looked for in a directory of that name.
func Directory(name string) bool { return unsearched[name] || Name(name) }
