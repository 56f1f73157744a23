package process

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// wellFormed reports whether a path is absolute, clean and not the root.
func wellFormed(path string) bool {
	return filepath.IsAbs(path) && filepath.Clean(path) == path && path != filepath.Dir(path) && !strings.ContainsRune(path, 0)
}

// checkShow returns what of a spec's Show is to be shown besides its shares, and
// checks it and the spec's Path. Errors are of type [sandbox.SetupError].
func checkShow(spec sandbox.Spec) ([]string, error) {
	var all []string
	for _, name := range spec.Show {
		if !wellFormed(name) {
			return nil, invalidShow("its path is not absolute and clean, or the root")
		}
		if slices.ContainsFunc(all, func(other string) bool { return overlap(name, other) }) {
			return nil, invalidShow("it is below another one")
		}
		if slices.ContainsFunc(ownDirs(spec), func(dir string) bool { return overlap(name, dir) }) {
			return nil, invalidShow("it holds a directory of the run, or is in one")
		}
		if slices.ContainsFunc(spec.Shares, func(s sandbox.Share) bool { return pathname.Within(name, s.Path) }) {
			continue
		}
		if slices.ContainsFunc(spec.Shares, func(s sandbox.Share) bool { return holdsShare(name, s) }) {
			return nil, RefusedShow("it holds a directory that programs see in another way")
		}
		if err := checkShown(name); err != nil {
			return nil, err
		}
		all = append(all, name)
	}
	for _, dir := range spec.Path {
		if strings.ContainsAny(dir, "\x00"+string(os.PathListSeparator)) || !isAbsolute(dir) {
			return nil, invalidSpec("a directory cannot be one of PATH: it is not absolute, or its name would be taken for several")
		}
	}
	return all, nil
}

// isAbsolute reports whether a path is absolute and clean where programs are,
// which may be on another system than the server.
func isAbsolute(dir string) bool {
	slashed := strings.HasPrefix(dir, "/") && !strings.Contains(dir+"/", "//") && !strings.Contains(dir+"/", "/../") && !strings.Contains(dir+"/", "/./")
	return slashed || filepath.IsAbs(dir) && filepath.Clean(dir) == dir
}

// ownDirs are the directories of which a run has more than it may be shown.
func ownDirs(spec sandbox.Spec) (dirs []string) {
	for _, dir := range []string{spec.Workspace, spec.Private, spec.SkillDir} {
		if dir != "" {
			dirs = append(dirs, filepath.Clean(dir))
		}
	}
	return append(dirs, changesOf(spec.Shares)...)
}

// holdsShare reports whether a path has to do with what a share is made of.
func holdsShare(name string, share sandbox.Share) bool {
	return slices.ContainsFunc(append(slices.Clone(share.Layers), share.Path), func(dir string) bool { return overlap(name, dir) })
}

// checkShown checks that a path is that of a file or directory, and no link is in
// it: what a link leads to is not what was granted.
func checkShown(name string) error {
	info, err := os.Lstat(name)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: name, Err: syscall.EINVAL}
	}
	real, realErr := filepath.EvalSymlinks(name)
	if err = errors.Join(err, realErr); err == nil && real != name {
		err = &os.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
	}
	if err == nil {
		return nil
	}
	return &sandbox.SetupError{
		Rule:    "show-missing",
		Message: "what the program is to be shown is not there, is no file or directory, or is behind a link",
		Hint:    "It may have been removed meanwhile. Tell the user to prepare the skill's packages again, or to correct what the configuration shows.",
		Err:     err,
	}
}

func invalidShow(what string) error { return invalidSpec("a path cannot be shown: " + what) }

// RefusedShow returns the [sandbox.SetupError] for something of Spec.Show that
// cannot be shown, for a reason that the user can do something about.
func RefusedShow(reason string) error {
	return &sandbox.SetupError{
		Rule:    "show-refused",
		Message: "what the skill is granted to be shown cannot be shown: " + reason,
		Hint:    "Tell the user to correct what the configuration shows, or where packages are kept; nothing was run.",
	}
}

// checkLibrary reports what keeps a spec's Library from being shown. Errors are of
// type [sandbox.SetupError].
func (r *Runner) checkLibrary(spec sandbox.Spec) error {
	if spec.Library == "" {
		return nil
	}
	if r.info.Library == "" {
		return RefusedLibrary("this sandbox shows programs no path but those of the machine")
	}
	if err := checkDir("library", spec.Library); err != nil {
		return err
	}
	if slices.ContainsFunc(ownDirs(spec), func(dir string) bool { return overlap(filepath.Clean(spec.Library), dir) }) {
		return invalidSpec("the library holds a directory of the run, or is in one")
	}
	shown := slices.Clone(spec.Show)
	for _, share := range spec.Shares {
		shown = append(shown, share.Path)
	}
	if slices.ContainsFunc(shown, func(name string) bool { return overlap(name, sandbox.LibraryDir) }) {
		return RefusedLibrary("something else that programs see is there")
	}
	return nil
}

// RefusedLibrary returns the [sandbox.SetupError] for a Library that cannot be
// shown.
func RefusedLibrary(reason string) error {
	return &sandbox.SetupError{
		Rule:    "library-refused",
		Message: "the skills cannot be shown at " + sandbox.LibraryDir + ": " + reason,
		Hint:    "Name one skill, whose files are there then, or tell the user to start the server without --mount-all; nothing was run.",
	}
}
