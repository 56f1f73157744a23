package resources

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

// Tree reads the files of one directory, never outside it. It holds the
// directory itself, so that a rename does not disturb it. It is safe for
// concurrent use.
type Tree struct {
	root *os.Root
	// escape is the error by which root says that a path leads out.
	escape error
	// entry is the name of the entry document, or empty.
	entry string
	// untrusted tells that a sandboxed program may have written here.
	untrusted bool
	// hidden is a clean path that is not listed, or empty.
	hidden string
}

// Open opens a skill's directory as a tree. The caller closes it. Errors are
// [*Error]. [OpenSkill] knows the entry document besides.
func Open(dir string) (*Tree, error) {
	if dir == "" {
		return nil, refuse(Invalid, dir, "is no directory")
	}
	// The separator makes the system refuse what is no directory before it
	// is opened: opening a FIFO would wait for a writer.
	root, err := os.OpenRoot(dir + string(os.PathSeparator))
	if err != nil {
		return nil, openError(err)
	}
	return &Tree{root: root, escape: escapeError(root)}, nil
}

func openError(err error) *Error {
	e := &Error{Rule: Unreadable, Path: ".", Message: "the directory cannot be opened", Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Rule, e.Message = NotFound, "the directory does not exist any more"
	case errors.Is(err, syscall.ENOTDIR):
		e.Rule, e.Message = NotDirectory, "the directory is none any more"
	case errors.Is(err, fs.ErrPermission):
		e.Rule, e.Message = Denied, "the directory may not be read"
	}
	e.Hint = e.Rule.hint()
	return e
}

// OpenSkill opens the directory of a skill. Its entry document is
// text/markdown whatever its name, and is what SKILL.md names (see [URI]).
func OpenSkill(skill *catalog.Skill) (*Tree, error) {
	tree, err := Open(skill.Dir)
	if err != nil {
		return nil, err
	}
	tree.entry = skill.Entry
	return tree, nil
}

// OpenUntrusted opens a directory that a sandboxed program has written to. In
// it a file with more than one hard link is refused, because its content may
// come from elsewhere; only Unix systems tell. The leavings of tools are not listed, but can be read.
func OpenUntrusted(dir string) (*Tree, error) {
	tree, err := Open(dir)
	if err != nil {
		return nil, err
	}
	tree.untrusted = true
	return tree, nil
}

// Hide leaves a clean path, and what is below it, out of listings and states.
// It can be read all the same.
func (t *Tree) Hide(clean string) { t.hidden = clean }

// Close releases the directory.
func (t *Tree) Close() error { return t.root.Close() }

// IsDir tells whether name is a directory, as [Tree.List] takes it, and not a
// file. Errors are [*Error]; a device, FIFO or socket is a [SpecialFile].
func (t *Tree) IsDir(name string) (bool, error) {
	clean, err := t.clean(name)
	if err != nil {
		return false, err
	}
	info, err := t.stat(clean, name)
	if err != nil {
		return false, err
	}
	return info.IsDir(), nil
}

// clean brings name into the form that is opened, and refuses what is not
// served whatever lies there.
func (t *Tree) clean(name string) (string, error) {
	clean, err := CleanBytes(name)
	if err != nil {
		return "", err
	}
	if clean == skillDocument && t.entry != "" {
		clean = t.entry
	}
	if !t.untrusted && hasDropping(clean) {
		return "", refuse(NotFound, name, "is no content of the skill and not served")
	}
	return clean, nil
}

// stat gives what clean leads to, which is a directory or a regular file that
// is served. Errors name it as given.
func (t *Tree) stat(clean, given string) (fs.FileInfo, error) {
	info, err := t.root.Stat(clean)
	if err != nil {
		return nil, t.refusal(given, err)
	}
	if err := t.checkMode(info, given); err != nil {
		return nil, err
	}
	dir := clean
	if !info.IsDir() {
		dir = path.Dir(clean)
	}
	if t.circular(dir) {
		return nil, refuse(NotFound, given, "goes through a link to a directory that it is in")
	}
	return info, nil
}

// checkMode refuses what is neither a directory nor a file to be read.
func (t *Tree) checkMode(info fs.FileInfo, given string) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return nil
	case !mode.IsRegular():
		return refuse(SpecialFile, given, "is a %s", kind(mode))
	case t.untrusted && filestat.Links(info) > 1:
		return refuse(Escape, given, "has several hard links, so its content may come from elsewhere")
	}
	return nil
}

func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "FIFO"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	default:
		return "special file"
	}
}

// circular tells whether a link on the way to a directory leads to a directory
// that the way went through before. Such paths are endless in number, so they
// are neither listed nor served.
func (t *Tree) circular(dir string) bool {
	for prefix := dir; prefix != "."; prefix = path.Dir(prefix) {
		link, err := t.root.Lstat(prefix)
		if err != nil || link.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		target, err := t.root.Stat(prefix)
		if err == nil && target.IsDir() && t.passes(path.Dir(prefix), target) {
			return true
		}
	}
	return false
}

// passes tells whether dir or a directory on the way to it is target.
func (t *Tree) passes(dir string, target fs.FileInfo) bool {
	for {
		info, err := t.root.Stat(dir)
		if err == nil && os.SameFile(info, target) {
			return true
		}
		if dir == "." {
			return false
		}
		dir = path.Dir(dir)
	}
}

// open opens a clean path for reading as a regular file. The caller closes
// it.
func (t *Tree) open(clean, given string) (*os.File, fs.FileInfo, error) {
	info, err := t.stat(clean, given)
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		return nil, nil, refuse(IsDirectory, given, "is a directory")
	}
	return t.openSeen(clean, given)
}

// openSeen opens what was a regular file a moment ago. It may have been swapped
// since: the open must not be made to wait, and what was opened is looked at
// again.
func (t *Tree) openSeen(clean, given string) (*os.File, fs.FileInfo, error) {
	file, err := t.root.OpenFile(clean, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, nil, t.refusal(given, err)
	}
	info, err := t.statOpened(file, given)
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

func (t *Tree) statOpened(file *os.File, given string) (fs.FileInfo, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, t.refusal(given, err)
	}
	if info.IsDir() {
		return nil, refuse(IsDirectory, given, "is a directory")
	}
	return info, t.checkMode(info, given)
}
