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

// place is where a file is or will be: a name in an open directory. No link
// leads there, and no rename leads elsewhere any more.
type place struct {
	root  *Dir
	dir   *os.Root
	name  string
	given string // the whole path, as the caller gave it
}

func (p *place) close() { p.dir.Close() }

// place finds the place of a file. Directories that are missing are made, or
// refused.
func (d *Dir) place(given string, makeDirs bool) (*place, error) {
	if !d.options.Untrusted {
		return nil, Refuse(Denied, given, "lies in a directory that is never written to").advise("Write to the workspace instead.")
	}
	clean, err := d.clean(given)
	if err != nil {
		return nil, err
	}
	if clean == "." {
		return nil, Refuse(IsDirectory, given, "is a directory")
	}
	dir, err := d.root.OpenRoot(".")
	if err != nil {
		return nil, d.refusal(given, err)
	}
	p := &place{root: d, dir: dir, name: path.Base(clean), given: given}
	if parent := path.Dir(clean); parent != "." {
		for segment := range strings.SplitSeq(parent, "/") {
			if err := p.step(segment, makeDirs); err != nil {
				p.close()
				return nil, err
			}
		}
	}
	return p, nil
}

// step goes into a directory. A link there is not followed, not even one that
// stays inside: policy has judged the path as it is spelt.
func (p *place) step(segment string, makeDir bool) error {
	made := false
	if makeDir {
		err := p.dir.Mkdir(segment, newDirMode)
		if made = err == nil; !made && !errors.Is(err, fs.ErrExist) {
			return p.refusal(err)
		}
	}
	seen, err := p.dir.Lstat(segment)
	switch {
	case err != nil:
		return p.refusal(err)
	case seen.Mode()&fs.ModeSymlink != 0:
		return p.throughLink()
	case !seen.IsDir():
		return Refuse(NotDirectory, p.given, "takes a file for a directory")
	}
	// The dot makes the system refuse what is no directory any more: opening
	// a FIFO would wait for a writer.
	next, err := p.dir.OpenRoot(segment + "/.")
	if err != nil {
		return p.refusal(err)
	}
	if err := p.entered(next, seen, made); err != nil {
		next.Close()
		return err
	}
	p.dir.Close()
	p.dir = next
	return nil
}

// entered checks that what was opened is the directory that was seen: a
// program may have put a link in its place in between.
func (p *place) entered(next *os.Root, seen fs.FileInfo, made bool) error {
	dir, err := next.Open(".")
	if err != nil {
		return p.refusal(err)
	}
	defer dir.Close()
	opened, err := dir.Stat()
	if err != nil {
		return p.refusal(err)
	}
	if !os.SameFile(seen, opened) {
		return p.throughLink()
	}
	if made {
		return p.give(dir)
	}
	return nil
}

func (p *place) throughLink() *Error {
	return Refuse(Escape, p.given, "goes through a link, and nothing is written through links").
		advise("Name the directory that the link leads to, or remove the link.")
}

// look gives what is at the place, which is nothing or a regular file.
func (p *place) look() (fs.FileInfo, error) {
	info, err := p.dir.Lstat(p.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, p.refusal(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, Refuse(Escape, p.given, "is a link, and nothing is written through links").
			advise("Name the file that the link leads to, or remove the link.")
	case info.IsDir():
		return nil, Refuse(IsDirectory, p.given, "is a directory").advise("Give the path of a file.")
	case !info.Mode().IsRegular():
		return nil, Refuse(SpecialFile, p.given, "is a %s", kind(info.Mode())).advise("Only regular files can be written.")
	}
	return info, nil
}

// give makes the owner of the tree the owner of what the server made in it.
func (p *place) give(file *os.File) error {
	if err := giveTo(p.root.root, file); err != nil {
		return p.refusal(err)
	}
	return nil
}

// refusal turns an error of the operating system into one of ours.
func (p *place) refusal(err error) *Error {
	e := p.root.refusal(p.given, err)
	switch {
	case isDiskFull(err):
		e = Refuse(Unreadable, p.given, "cannot be written: no space is left").advise("Remove files that are not needed any more.")
	case e.Rule == Denied:
		e = Refuse(Denied, p.given, "may not be written").advise("The permissions of its directory forbid it.")
	case e.Rule == Unreadable:
		e = Refuse(Unreadable, p.given, "cannot be written")
	}
	return e.because(err)
}
