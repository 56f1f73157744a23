package catalog

import (
	"path/filepath"
	"strings"
)

// packScheme marks a command-line root as one of capability packs.
const packScheme = "pack:"

// ParseRoot reads a root as it is written on a command line:
// [pack:][PREFIX=]PATH.
//
// PATH is resolved as a shell user expects: ~ and ~/x against home, a
// relative path against projectDir. What stands before the first = is a
// prefix only where it has a prefix's grammar, segments of [a-z0-9-] joined
// by slashes; so ./a=b is always a path. The error is a [*RootError].
func ParseRoot(arg, projectDir, home string) (Root, error) {
	path, pack := strings.CutPrefix(arg, packScheme)
	root := Root{Pack: pack}
	if before, after, found := strings.Cut(path, "="); found && isPrefix(before) {
		root.Prefix, path = before, after
	}
	if path == "" {
		return Root{}, &RootError{arg, "the path is empty"}
	}
	if strings.HasPrefix(path, "~") {
		rest := path[1:]
		if rest != "" && !strings.HasPrefix(filepath.ToSlash(rest), "/") {
			return Root{}, &RootError{arg, "another user's home is not looked up; write its path, or ./" + path + " for a file of that name"}
		}
		if home == "" {
			return Root{}, &RootError{arg, "~ stands for the home directory, which is not known"}
		}
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(projectDir, path)
	}
	root.Path = filepath.Clean(path)
	if err := root.Validate(); err != nil {
		return Root{}, err
	}
	return root, nil
}

// Argument returns what [ParseRoot] makes the root of, wherever it is called.
func (r Root) Argument() string {
	argument := r.Path
	if r.Prefix != "" {
		argument = r.Prefix + "=" + argument
	}
	if r.Pack {
		argument = packScheme + argument
	}
	return argument
}
