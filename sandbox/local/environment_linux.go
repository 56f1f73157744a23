//go:build amd64 || arm64

package local

import (
	"bufio"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// environmentConfig is the file by which Python knows a virtual environment.
const environmentConfig = "pyvenv.cfg"

// isEnvironment reports whether a directory is a virtual environment of Python.
func isEnvironment(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, environmentConfig))
	return err == nil && info.Mode().IsRegular()
}

// environmentParts returns what is to be shown of a virtual environment, by its
// real path. It may have been made in a directory that holds anything else: then
// that is Python's own files and no other program.
func (s surroundings) environmentParts(dir string) (parts []string, err error) {
	if err := s.mayShow(dir); err != nil {
		return nil, err
	}
	if isInstallation(dir) == nil && s.holdsOthers(dir) == nil {
		parts = s.existing(dir, installationParts)
	} else {
		for _, library := range s.existing(dir, []string{"lib", "lib64"}) {
			parts = append(parts, s.existing(library, entriesLike(library, "python3*", "pypy3*"))...)
		}
	}
	if len(parts) == 0 {
		return nil, errors.New("there is nothing in it that programs may read")
	}
	return append(parts, filepath.Join(dir, environmentConfig)), nil
}

// entriesLike returns the names in a directory that match one of the patterns.
func entriesLike(dir string, patterns ...string) (names []string) {
	entries, _ := os.ReadDir(dir) // as good as empty
	for _, entry := range entries {
		matches := func(pattern string) bool { ok, _ := path.Match(pattern, entry.Name()); return ok }
		if slices.ContainsFunc(patterns, matches) {
			names = append(names, entry.Name())
		}
	}
	return names
}

// setting returns the value of a name in a file with lines "name = value", or
// nothing.
func setting(file, name string) string {
	opened, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer opened.Close()
	for lines := bufio.NewScanner(opened); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), "=")
		if value = strings.TrimSpace(value); strings.TrimSpace(key) == name && value != "" {
			return value
		}
	}
	return ""
}

// isReal reports whether something is there, and no link leads to it.
func isReal(name string) bool {
	real, err := filepath.EvalSymlinks(name)
	return err == nil && real == name
}
