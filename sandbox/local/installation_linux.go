//go:build amd64 || arm64

package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// installationParts are the directories of which an installation consists.
// Settings, such as those in etc, are none: they may hold secrets.
var installationParts = []string{"bin", "include", "lib", "lib32", "lib64", "libexec", "libx32", "share"}

// besideParts are what else may lie in the directory of an installation. It is
// not shown. A directory in which there is anything besides is taken for one
// that holds more than the installation, such as a project, whose "lib" is the
// user's own. Patterns are those of [path.Match].
var besideParts = []string{
	"AUTHORS*", "BUILD*", "CHANGELOG*", "CHANGES*", "COPYING*", "ChangeLog*", "INSTALL*", "LICENCE*", "LICENSE*", "NEWS*",
	"README*", "THIRD-PARTY*", "VERSION*", "build.log", "release",
	"doc", "docs", "envs", "etc", "info", "man", "openssl", "php", "sbin", "ssl", "var",
	// Of virtual environments.
	".Python", ".gitignore", ".lock", "CACHEDIR.TAG", "pip-selfcheck.json", "pip.conf", "pyvenv.cfg",
	// Of version managers.
	".brew", ".bundle", ".mise*", ".npm", ".npmrc", ".version", "npmrc",
}

// condaParts are those that conda adds, where it has left its mark.
var condaParts = []string{
	".condarc", ".messages.txt", ".nonadmin", "*-conda*", "_conda*", "cmake", "compiler_compat", "conda-*", "condabin", "fonts", "mkspecs", "phrasebooks",
	"pkgs", "plugins", "qml", "resources", "shell", "translations",
}

// brewParts are those of Homebrew, whose formulas need each other.
var brewParts = []string{"Cellar", "bin", "include", "lib", "opt", "share"}

// standalone are the interpreters that need no file besides their own.
var standalone = []string{"bun", "deno", "node", "uv"}

// installation returns what is to be shown of the installation of a program,
// which is the real path of one that was found by this name: directories, or
// the program alone.
func (s surroundings) installation(program, name string) (parts []string, err error) {
	if base := filepath.Base(program); !isVersionOf(base, name) {
		return nil, fmt.Errorf("it leads to %s", program)
	}
	parts, err = s.parts(program)
	if err != nil && slices.Contains(standalone, filepath.Base(program)) && s.mayShow(program) == nil && isNative(program) {
		return []string{program}, nil
	}
	return parts, err
}

// isVersionOf reports whether a file may be the program of that name: itself
// or one of its versions, as python3.12 is of python.
func isVersionOf(file, name string) bool {
	stem := func(name string) string { return strings.TrimRight(name, "0123456789.-") }
	if stem(name) == "python" && strings.HasPrefix(file, "pypy") {
		return true
	}
	return stem(file) == stem(name)
}

func (s surroundings) parts(program string) ([]string, error) {
	prefix := filepath.Dir(filepath.Dir(program))
	names := installationParts
	if keg, _, brewed := strings.Cut(program, "/Cellar/"); brewed {
		prefix, names = keg, brewParts
	} else if filepath.Base(filepath.Dir(program)) != "bin" {
		return nil, errors.New("it is not in a directory \"bin\"")
	} else if err := isInstallation(prefix); err != nil {
		return nil, err
	}
	if err := s.mayShow(prefix); err != nil {
		return nil, err
	}
	if err := s.holdsOthers(prefix); err != nil {
		return nil, err
	}
	parts := s.existing(prefix, names)
	if !slices.Contains(parts, filepath.Join(prefix, "bin")) || len(parts) == 1 {
		return nil, fmt.Errorf("there is no library in %s that programs may read", prefix)
	}
	return parts, nil
}

// existing returns the paths of the directories of such names, but not of
// links, and not of what others may not read where programs are others.
func (s surroundings) existing(prefix string, names []string) (dirs []string) {
	for _, name := range names {
		dir := filepath.Join(prefix, name)
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && s.readable(info) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// isInstallation reports what a directory holds besides an installation.
func isInstallation(prefix string) error {
	known := slices.Concat(installationParts, besideParts)
	if isDir(filepath.Join(prefix, "conda-meta")) {
		known = append(known, condaParts...)
	}
	all, expected := entriesLike(prefix, "*"), entriesLike(prefix, known...)
	for _, name := range all {
		if !slices.Contains(expected, name) {
			return fmt.Errorf("%s holds more than an installation: %q", prefix, name)
		}
	}
	return nil
}

// isNative reports whether a file is an executable of the system's own format.
func isNative(name string) bool {
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 4)
	_, err = file.Read(head)
	return err == nil && bytes.Equal(head, []byte("\x7fELF"))
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
