package catalog

import (
	"path/filepath"
	"strings"
)

// ignoredDirs hold what tools put there, in thousands of files, and never a
// skill that its author means to publish.
var ignoredDirs = map[string]bool{
	".git": true, ".hg": true, ".svn": true, ".bzr": true, ".jj": true, "CVS": true,
	"node_modules": true, "__pycache__": true, ".venv": true, "venv": true, "__MACOSX": true,
	".idea": true, ".vscode": true, ".vs": true, ".cache": true, ".tox": true, ".nox": true,
	".mypy_cache": true, ".pytest_cache": true, ".ruff_cache": true, ".direnv": true,
	".Trash": true, ".Trashes": true, ".fseventsd": true, ".Spotlight-V100": true,
}

// ignoredFile tells whether a file is an editor's or a file manager's own.
func ignoredFile(name string) bool {
	switch {
	case name == ".DS_Store", name == "Thumbs.db", name == "desktop.ini", name == "4913":
		return true
	case strings.HasSuffix(name, "~"), strings.HasPrefix(name, ".#"):
		return true
	case strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#"):
		return true
	}
	ext := filepath.Ext(name)
	return strings.HasPrefix(name, ".") && (ext == ".swp" || ext == ".swo" || ext == ".swx")
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") }
