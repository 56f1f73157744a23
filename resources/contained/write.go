package contained

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"

	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// temporaryPrefix begins the name of a file that is not whole yet.
const temporaryPrefix = ".skills-mcp-"

// maxEdits is how often an edit is tried of a file that changes meanwhile.
const maxEdits = 10

// errChanged means that a program was faster.
var errChanged = errors.New("changed meanwhile")

// Write makes a file of these bytes, and the directories that lead to it, or
// puts the bytes in the place of a file that is there, of which the mode
// stays. created tells which. Readers see the old file or the new one whole.
//
// The directory must be [Options.Untrusted]. Nothing is written through a link, not
// even one that stays inside, and nothing outside the directory, whatever programs
// do to it meanwhile. Where the server is root, what it makes belongs to the
// owner of the directory. Errors are [*Error].
func (d *Dir) Write(name string, data []byte) (created bool, err error) {
	p, err := d.place(name, true)
	if err != nil {
		return false, err
	}
	defer p.close()
	old, err := p.look()
	if err != nil {
		return false, err
	}
	if err := p.put(data, old, false); err != nil {
		return false, p.overtaken(err)
	}
	return old == nil, nil
}

// Edit puts what change makes of a file's bytes in their place, as
// [Dir.Write] does. A file of more than limit bytes is [TooLarge], and one
// that has several hard links is [Escape], since its content may come from
// elsewhere. change may be called more than once; an error that it gives is
// given on, and leaves the file as it is.
func (d *Dir) Edit(name string, limit int64, change func(data []byte) ([]byte, error)) error {
	p, err := d.place(name, false)
	if err != nil {
		return err
	}
	defer p.close()
	for range maxEdits {
		if err = p.edit(limit, change); !errors.Is(err, errChanged) {
			break
		}
	}
	return p.overtaken(err)
}

func (p *place) edit(limit int64, change func([]byte) ([]byte, error)) error {
	seen, err := p.look()
	if err != nil {
		return err
	}
	if seen == nil {
		return Refuse(NotFound, p.given, "does not exist")
	}
	data, err := p.read(seen, limit)
	if err != nil {
		return err
	}
	if data, err = change(data); err != nil {
		return err
	}
	return p.put(data, seen, true)
}

// read reads the file that was seen.
func (p *place) read(seen fs.FileInfo, limit int64) ([]byte, error) {
	if err := p.root.checkMode(seen, p.given); err != nil {
		return nil, err
	}
	if seen.Size() > limit {
		return nil, Refuse(TooLarge, p.given, "is %d bytes long, over the limit of %d", seen.Size(), limit).advise(editInProgram)
	}
	file, err := p.dir.OpenFile(p.name, os.O_RDONLY|openflag.NonBlock|openflag.NoTerminal, 0)
	if err != nil {
		return nil, p.refusal(err)
	}
	defer file.Close()
	opened, err := file.Stat()
	if err != nil {
		return nil, p.refusal(err)
	}
	if !unchanged(seen, opened) {
		return nil, errChanged
	}
	data, err := readSection(file, 0, limit+1, seen.Size())
	if err != nil {
		return nil, p.refusal(err)
	}
	if int64(len(data)) > limit {
		return nil, Refuse(TooLarge, p.given, "is longer than the limit of %d bytes", limit).advise(editInProgram)
	}
	return data, nil
}

const editInProgram = "Change it with a program, such as sed."

// put puts a new file in the place of the old one, or of nothing. Where still
// is set, the old one must be as it was.
func (p *place) put(data []byte, old fs.FileInfo, still bool) (err error) {
	temporary := temporaryPrefix + rand.Text()
	file, err := p.dir.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newFileMode)
	if err != nil {
		return p.refusal(err)
	}
	// Until it is closed, no other file can be taken for it.
	defer file.Close()
	made, err := p.fill(file, data, old)
	if err == nil && still {
		now, statErr := p.dir.Lstat(p.name)
		if statErr != nil || !unchanged(old, now) {
			err = errChanged
		}
	}
	if err == nil {
		err = p.dir.Rename(temporary, p.name)
	}
	if err != nil {
		_ = p.dir.Remove(temporary)
		if err == errChanged {
			return err
		}
		return p.refusal(err)
	}
	// A program may have put something else in the place of the temporary
	// file. Then that has the name now, and the caller has to know.
	if now, err := p.dir.Lstat(p.name); err != nil || !os.SameFile(made, now) {
		return errChanged
	}
	if err := file.Close(); err != nil {
		return p.refusal(err)
	}
	return nil
}

// fill makes a new file what it has to be.
func (p *place) fill(file *os.File, data []byte, old fs.FileInfo) (made fs.FileInfo, err error) {
	if _, err = file.Write(data); err != nil {
		return nil, err
	}
	if err = giveTo(p.root.root, file); err != nil {
		return nil, err
	}
	if old != nil {
		if err = file.Chmod(old.Mode().Perm()); err != nil {
			return nil, err
		}
	}
	return file.Stat()
}

// overtaken says that a program was faster, where that is the error.
func (p *place) overtaken(err error) error {
	if !errors.Is(err, errChanged) {
		return err
	}
	return Refuse(Unreadable, p.given, "is being changed by a program at the same time").
		advise("Wait until the program has ended, look at the file, and try again.").because(err)
}

// unchanged tells whether a file is the one that was seen, as it was.
func unchanged(seen, now fs.FileInfo) bool {
	return os.SameFile(seen, now) && stateOf(seen) == stateOf(now)
}
