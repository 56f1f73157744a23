package contained

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Modes of what is made, before the umask.
const (
	newFileMode = 0o644
	newDirMode  = 0o755
)

// target is a file to be written: a name in an open directory. No link leads
// there, and no rename leads elsewhere any more.
type target struct {
	root  *Dir
	dir   *os.Root
	name  string
	given string // the whole path, as the caller gave it
}

func (t *target) close() { t.dir.Close() }

// target finds where a file is or will be. Directories that are missing are
// made, or refused.
func (d *Dir) target(given string, makeDirs bool) (*target, error) {
	if !d.options.Untrusted {
		return nil, Refuse(Denied, given, "lies in a directory that is never written to").advise("Write to the workspace instead.")
	}
	clean, err := CleanBytes(given)
	if err != nil {
		return nil, err
	}
	if clean == "." {
		return nil, Refuse(IsDirectory, given, "is a directory")
	}
	t := &target{root: d, name: path.Base(clean), given: given}
	if t.dir, err = d.root.OpenRoot("."); err != nil {
		return nil, d.refusal(given, err)
	}
	for segment := range strings.SplitSeq(path.Dir(clean), "/") {
		if segment == "." {
			break // it lies in the directory itself
		}
		if err := t.enter(segment, makeDirs); err != nil {
			t.close()
			return nil, err
		}
	}
	return t, nil
}

// enter goes into a directory. A link there is not followed, not even one that
// stays inside: policy has judged the path as it is spelt.
func (t *target) enter(segment string, makeDir bool) error {
	made := false
	if makeDir {
		err := t.dir.Mkdir(segment, newDirMode)
		if made = err == nil; !made && !errors.Is(err, fs.ErrExist) {
			return t.refusal(err)
		}
	}
	seen, err := t.dir.Lstat(segment)
	switch {
	case err != nil:
		return t.refusal(err)
	case seen.Mode()&fs.ModeSymlink != 0:
		return t.throughLink()
	case !seen.IsDir():
		return Refuse(NotDirectory, t.given, "takes a file for a directory")
	}
	// The dot makes the system refuse what is no directory any more: opening
	// a FIFO would wait for a writer.
	next, err := t.dir.OpenRoot(segment + "/.")
	if err != nil {
		return t.refusal(err)
	}
	if err := t.entered(next, seen, made); err != nil {
		next.Close()
		return err
	}
	t.dir.Close()
	t.dir = next
	return nil
}

// entered checks that what was opened is the directory that was seen: a
// program may have put a link in its place in between.
func (t *target) entered(next *os.Root, seen fs.FileInfo, made bool) error {
	opened, err := next.Stat(".")
	if err != nil {
		return t.refusal(err)
	}
	if !os.SameFile(seen, opened) {
		return t.throughLink()
	}
	if !made {
		return nil
	}
	dir, err := next.Open(".")
	if err != nil {
		return t.refusal(err)
	}
	defer dir.Close()
	if err := chownLike(t.root.root, dir); err != nil {
		return t.refusal(err)
	}
	return nil
}

func (t *target) throughLink() *Error {
	return Refuse(Escape, t.given, "goes through a link, and nothing is written through links").
		advise("Name the directory that the link leads to, or remove the link.")
}

// stat returns what is there: a regular file, or nil for nothing.
func (t *target) stat() (fs.FileInfo, error) {
	info, err := t.dir.Lstat(t.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, t.refusal(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, Refuse(Escape, t.given, "is a link, and nothing is written through links").
			advise("Name the file that the link leads to, or remove the link.")
	case info.IsDir():
		return nil, Refuse(IsDirectory, t.given, "is a directory").advise("Give the path of a file.")
	case !info.Mode().IsRegular():
		return nil, Refuse(SpecialFile, t.given, "is a %s", kind(info.Mode())).advise("Only regular files can be written.")
	}
	return info, nil
}

// refusal turns an error of the operating system into one of ours.
func (t *target) refusal(err error) error {
	if errors.Is(err, ErrChanged) {
		return err
	}
	e := t.root.refusal(t.given, err)
	switch {
	case isDiskFull(err):
		e = Refuse(Unreadable, t.given, "cannot be written: no space is left").advise("Remove files that are not needed any more.")
	case e.Rule == Denied:
		e = Refuse(Denied, t.given, "may not be written").advise("The permissions of its directory forbid it.")
	case e.Rule == Unreadable:
		e = Refuse(Unreadable, t.given, "cannot be written")
	}
	return e.because(err)
}
