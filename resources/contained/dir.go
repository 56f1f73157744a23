package contained

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/ignored"
)

// skillDocument is the name that every entry document can be read by.
const skillDocument = "SKILL.md"

// Dir is an open directory. It reads and writes the files in it, never outside
// it. A rename of the directory does not disturb it. It is safe for concurrent
// use.
type Dir struct {
	root *os.Root
	// escape is the error by which root says that a path leads out.
	escape  error
	options Options
}

// Options say what a directory is. The zero value is that of a skill whose
// entry document is SKILL.md.
type Options struct {
	// Entry is the name of the entry document, or empty. It is text/markdown
	// whatever its name, and is read under the name SKILL.md too; a second file
	// of that very name beside it is not served.
	Entry string
	// Untrusted is set where a sandboxed program may have written. Then a file
	// with more than one hard link is refused, because its content may come
	// from elsewhere (only Unix systems show that), ignored files are not listed but
	// can be read, and files can be written.
	Untrusted bool
	// Hidden is a clean path that is left out of listings and states with what
	// is below it, or empty. It can be read all the same.
	Hidden string
	// Withheld reports whether what is at a clean path, and below it, is not
	// served, whatever else says so of its name; links that lead there are not
	// either. If nil, nothing is.
	Withheld func(path string) bool
	// Runnable has [Dir.Walk] visit what programs need besides what is served:
	// packages in node_modules, and links as they stand. None is followed.
	Runnable bool
}

// Open opens a directory. The caller closes it. Errors are [*Error].
func Open(path string, options Options) (*Dir, error) {
	if path == "" {
		return nil, Refuse(Invalid, path, "is no directory")
	}
	// The separator makes the system refuse what is no directory before it
	// is opened: opening a FIFO would wait for a writer.
	root, err := os.OpenRoot(path + string(os.PathSeparator))
	if err != nil {
		return nil, openError(err)
	}
	return &Dir{root: root, escape: escapeError(root), options: options}, nil
}

func openError(err error) *Error {
	e := &Error{Rule: Unreadable, Message: "the directory cannot be opened", Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Rule, e.Message = NotFound, "the directory does not exist any more"
	case errors.Is(err, syscall.ENOTDIR):
		e.Rule, e.Message = NotDirectory, "the directory is none any more"
	case errors.Is(err, fs.ErrPermission):
		e.Rule, e.Message = Denied, "the directory may not be read"
	}
	e.Hint = hints[e.Rule]
	return e
}

// Close releases the directory.
func (d *Dir) Close() error { return d.root.Close() }

// IsDir reports whether name is a directory, and not a file. Errors are
// [*Error]; a device, FIFO or socket is a [SpecialFile].
func (d *Dir) IsDir(name string) (bool, error) {
	_, info, err := d.find(name)
	return err == nil && info.IsDir(), err
}

// find looks up a name that a caller gave, and returns its clean path and what
// that leads to: a directory or a regular file that is served.
func (d *Dir) find(name string) (clean string, info fs.FileInfo, err error) {
	if clean, err = CleanBytes(name); err != nil {
		return "", nil, err
	}
	if clean == skillDocument && d.options.Entry != "" {
		clean = d.options.Entry
	}
	if !d.options.Untrusted && ignored.Within(clean) || d.withheld(clean) {
		return "", nil, Refuse(NotFound, name, "is no content of the skill and not served")
	}
	if info, err = d.root.Stat(clean); err != nil {
		return "", nil, d.refusal(name, err)
	}
	if err := d.checkMode(info, name); err != nil {
		return "", nil, err
	}
	dir := clean
	if !info.IsDir() {
		dir = path.Dir(clean)
	}
	if d.circular(dir) {
		return "", nil, Refuse(NotFound, name, "goes through a link to a directory that it is in")
	}
	return clean, info, nil
}

// maxLinks is how many links on the way to a file are followed, as by the system.
const maxLinks = 40

// withheld reports whether a clean path is, or leads to, what is not served.
func (d *Dir) withheld(clean string) bool {
	return d.options.Withheld != nil && (d.options.Withheld(clean) || d.options.Withheld(d.landing(clean)))
}

// landing returns where a clean path leads to through links, as far as these stay
// in the directory; others are not followed by anything.
func (d *Dir) landing(clean string) string {
	at, left := ".", strings.Split(clean, "/")
	for links := 0; len(left) > 0; {
		next := path.Join(at, left[0])
		left = left[1:]
		target, err := d.root.Readlink(next)
		if err != nil {
			at = next
			continue
		}
		if links++; links > maxLinks || path.IsAbs(target) {
			return next
		}
		left = append(strings.Split(target, "/"), left...)
	}
	return at
}

// checkMode refuses what is neither a directory nor a file to be read.
func (d *Dir) checkMode(info fs.FileInfo, given string) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return nil
	case !mode.IsRegular():
		return Refuse(SpecialFile, given, "is a %s", kind(mode))
	case d.options.Untrusted && filestat.Links(info) > 1:
		return Refuse(Escape, given, "has several hard links, so its content may come from elsewhere")
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

// circular reports whether a link on the way to a directory leads to a
// directory that the way went through before. Such paths are endless in number,
// so they are neither listed nor served.
func (d *Dir) circular(dir string) bool {
	for prefix := dir; prefix != "."; prefix = path.Dir(prefix) {
		link, err := d.root.Lstat(prefix)
		if err != nil || link.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		target, err := d.root.Stat(prefix)
		if err == nil && target.IsDir() && contains(d.way(path.Dir(prefix)), target) {
			return true
		}
	}
	return false
}

// way returns the directories on the way to dir, itself included.
func (d *Dir) way(dir string) (passed []fs.FileInfo) {
	for ; ; dir = path.Dir(dir) {
		if info, err := d.root.Stat(dir); err == nil {
			passed = append(passed, info)
		}
		if dir == "." {
			return passed
		}
	}
}

func contains(dirs []fs.FileInfo, dir fs.FileInfo) bool {
	return slices.ContainsFunc(dirs, func(other fs.FileInfo) bool { return os.SameFile(other, dir) })
}
