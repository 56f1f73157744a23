package command

import (
	"os"
	"slices"
	"strings"
)

// separatorOf returns what separates a directory, as the program sees it, from
// the next one in a list: the program's system may be another than the server's.
func separatorOf(dir string) string {
	if strings.HasPrefix(dir, "/") {
		return ":"
	}
	return string(os.PathListSeparator)
}

// extendPath puts directories before the others of a PATH.
func extendPath(dirs []string, searchPath string) string {
	for _, dir := range slices.Backward(dirs) {
		if searchPath != "" {
			dir += separatorOf(dir)
		}
		searchPath = dir + searchPath
	}
	return searchPath
}

// after returns a lookup that searches directories before it does what look does,
// which knows programs by their absolute paths.
func (look Lookup) after(dirs []string) Lookup {
	return func(name string) (string, bool) {
		if program, found := look.in(dirs, name); found {
			return program, true
		}
		return look(name)
	}
}

// in finds a program by its name in one of the directories.
func (look Lookup) in(dirs []string, name string) (string, bool) {
	if name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
		return "", false
	}
	for _, dir := range dirs {
		if program, found := look(strings.TrimSuffix(dir, "/") + "/" + name); found {
			return program, true
		}
	}
	return "", false
}
