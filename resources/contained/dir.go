package contained

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/ignored"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
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
	// from elsewhere (only Unix systems tell), ignored files are not listed but
	// can be read, and files can be written.
	Untrusted bool
	// Hidden is a clean path that is left out of listings and states with what
	// is below it, or empty. It can be read all the same.
	Hidden string
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

// Close releases the directory.
func (d *Dir) Close() error { return d.root.Close() }

// IsDir tells whether name is a directory, as [Dir.List] takes it, and not a
// file. Errors are [*Error]; a device, FIFO or socket is a [SpecialFile].
func (d *Dir) IsDir(name string) (bool, error) {
	clean, err := d.clean(name)
	if err != nil {
		return false, err
	}
	info, err := d.stat(clean, name)
	if err != nil {
		return false, err
	}
	return info.IsDir(), nil
}

// clean brings name into the form that is opened, and refuses what is not
// served whatever lies there.
func (d *Dir) clean(name string) (string, error) {
	clean, err := CleanBytes(name)
	if err != nil {
		return "", err
	}
	if clean == skillDocument && d.options.Entry != "" {
		clean = d.options.Entry
	}
	if !d.options.Untrusted && ignored.Within(clean) {
		return "", Refuse(NotFound, name, "is no content of the skill and not served")
	}
	return clean, nil
}

// stat gives what clean leads to, which is a directory or a regular file that
// is served. Errors name it as given.
func (d *Dir) stat(clean, given string) (fs.FileInfo, error) {
	info, err := d.root.Stat(clean)
	if err != nil {
		return nil, d.refusal(given, err)
	}
	if err := d.checkMode(info, given); err != nil {
		return nil, err
	}
	dir := clean
	if !info.IsDir() {
		dir = path.Dir(clean)
	}
	if d.circular(dir) {
		return nil, Refuse(NotFound, given, "goes through a link to a directory that it is in")
	}
	return info, nil
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

// circular tells whether a link on the way to a directory leads to a directory
// that the way went through before. Such paths are endless in number, so they
// are neither listed nor served.
func (d *Dir) circular(dir string) bool {
	for prefix := dir; prefix != "."; prefix = path.Dir(prefix) {
		link, err := d.root.Lstat(prefix)
		if err != nil || link.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		target, err := d.root.Stat(prefix)
		if err == nil && target.IsDir() && d.passes(path.Dir(prefix), target) {
			return true
		}
	}
	return false
}

// passes tells whether dir or a directory on the way to it is target.
func (d *Dir) passes(dir string, target fs.FileInfo) bool {
	for {
		info, err := d.root.Stat(dir)
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
func (d *Dir) open(clean, given string) (*os.File, fs.FileInfo, error) {
	info, err := d.stat(clean, given)
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		return nil, nil, Refuse(IsDirectory, given, "is a directory")
	}
	return d.openSeen(clean, given)
}

// openSeen opens what was a regular file a moment ago. It may have been swapped
// since: the open must not be made to wait, and what was opened is looked at
// again.
func (d *Dir) openSeen(clean, given string) (*os.File, fs.FileInfo, error) {
	file, err := d.root.OpenFile(clean, os.O_RDONLY|openflag.NonBlock|openflag.NoTerminal, 0)
	if err != nil {
		return nil, nil, d.refusal(given, err)
	}
	info, err := d.statOpened(file, given)
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

func (d *Dir) statOpened(file *os.File, given string) (fs.FileInfo, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, d.refusal(given, err)
	}
	if info.IsDir() {
		return nil, Refuse(IsDirectory, given, "is a directory")
	}
	return info, d.checkMode(info, given)
}

// ErrChanged means that a file is not any more what it was a moment ago.
var ErrChanged = errors.New("changed meanwhile")

// Copy writes a file that [Dir.Walk] visited to w, but no more than limit
// bytes. info is what was opened; it is set where the file could be opened.
// The error is [ErrChanged] where the file changed meanwhile, that of w, or
// [*Error].
func (d *Dir) Copy(w io.Writer, clean string, limit int64) (info fs.FileInfo, size int64, err error) {
	file, info, err := d.openSeen(clean, clean)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	buffer := make([]byte, min(256<<10, info.Size()+bytes.MinRead))
	size, err = io.CopyBuffer(w, io.LimitReader(file, limit), buffer)
	var failed *fs.PathError
	switch {
	case errors.As(err, &failed) && failed.Op == "read":
		return info, size, d.refusal(clean, err)
	case err != nil:
		return info, size, err
	}
	if after, err := file.Stat(); err != nil || filestat.Of(info) != filestat.Of(after) {
		return info, size, ErrChanged
	}
	return info, size, nil
}

// Readlink returns what a link says that [Dir.Walk] visited.
func (d *Dir) Readlink(clean string) (string, error) { return d.root.Readlink(clean) }
