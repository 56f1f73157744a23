package command

import (
	"os"
	"slices"
	"strings"
)

// extendPath puts directories, as the program sees them, before the others of a
// PATH. The program's system may be another than the server's.
func extendPath(dirs []string, searchPath string) string {
	separator := string(os.PathListSeparator)
	for _, dir := range slices.Backward(dirs) {
		if strings.HasPrefix(dir, "/") {
			separator = ":"
		}
		searchPath = strings.TrimSuffix(dir+separator+searchPath, separator)
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
