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

// Write makes a file of these bytes, and the directories that lead to it, or
// puts the bytes in the place of a file that is there, of which the mode
// stays. created reports which. Readers see the old file or the new one whole.
//
// The directory must be [Options.Untrusted]. Nothing is written through a link,
// not even one that stays inside, and nothing outside the directory, whatever
// programs do to it meanwhile. Where the server is root, what it makes belongs
// to the owner of the directory. Errors are [*Error].
func (d *Dir) Write(name string, data []byte) (created bool, err error) {
	t, err := d.target(name, true)
	if err != nil {
		return false, err
	}
	defer t.close()
	old, err := t.stat()
	if err != nil {
		return false, err
	}
	return old == nil, t.overtaken(t.replace(data, old, false))
}

// Edit puts what change makes of a file's bytes in their place, as
// [Dir.Write] does. A file of more than limit bytes is [TooLarge], and one
// that has several hard links is [Escape], since its content may come from
// elsewhere. change may be called more than once; its error is returned, and
// leaves the file as it is.
func (d *Dir) Edit(name string, limit int64, change func(data []byte) ([]byte, error)) error {
	t, err := d.target(name, false)
	if err != nil {
		return err
	}
	defer t.close()
	for range maxEdits {
		if err = t.edit(limit, change); !errors.Is(err, ErrChanged) {
			break
		}
	}
	return t.overtaken(err)
}

func (t *target) edit(limit int64, change func([]byte) ([]byte, error)) error {
	seen, err := t.stat()
	if err != nil {
		return err
	}
	if seen == nil {
		return Refuse(NotFound, t.given, "does not exist")
	}
	data, err := t.read(seen, limit)
	if err != nil {
		return err
	}
	if data, err = change(data); err != nil {
		return err
	}
	return t.replace(data, seen, true)
}

// read reads the file that was seen.
func (t *target) read(seen fs.FileInfo, limit int64) ([]byte, error) {
	if err := t.root.checkMode(seen, t.given); err != nil {
		return nil, err
	}
	file, err := t.dir.OpenFile(t.name, os.O_RDONLY|openflag.NonBlock|openflag.NoTerminal, 0)
	if err != nil {
		return nil, t.refusal(err)
	}
	defer file.Close()
	if opened, err := file.Stat(); err != nil || !unchanged(seen, opened) {
		return nil, errors.Join(ErrChanged, err)
	}
	data, err := t.root.readLimited(file, t.given, seen.Size(), limit)
	if refused, ok := errors.AsType[*Error](err); ok && refused.Rule == TooLarge {
		refused.Hint = "Change it with a program, such as sed."
	}
	return data, err
}

// replace puts a new file in the place of the old one, or of nothing. Where
// still is set, the old one must be as it was.
func (t *target) replace(data []byte, old fs.FileInfo, still bool) (err error) {
	temporary := temporaryPrefix + rand.Text()
	file, err := t.dir.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newFileMode)
	if err != nil {
		return t.refusal(err)
	}
	// Until it is closed, no other file can be taken for it.
	defer file.Close()
	made, err := t.fill(file, data, old)
	if err == nil && still {
		if now, statErr := t.dir.Lstat(t.name); statErr != nil || !unchanged(old, now) {
			err = ErrChanged
		}
	}
	if err == nil {
		err = t.dir.Rename(temporary, t.name)
	}
	if err != nil {
		_ = t.dir.Remove(temporary)
		return t.refusal(err)
	}
	// A program may have put something else in the place of the temporary
	// file. Then that has the name now, and the caller has to know.
	if now, err := t.dir.Lstat(t.name); err != nil || !os.SameFile(made, now) {
		return ErrChanged
	}
	if err := file.Close(); err != nil {
		return t.refusal(err)
	}
	return nil
}

// fill makes a new file what it has to be.
func (t *target) fill(file *os.File, data []byte, old fs.FileInfo) (made fs.FileInfo, err error) {
	if _, err = file.Write(data); err == nil {
		err = chownLike(t.root.root, file)
	}
	if err == nil && old != nil {
		err = file.Chmod(old.Mode().Perm())
	}
	if err != nil {
		return nil, err
	}
	return file.Stat()
}

// overtaken says that a program was faster, where that is the error.
func (t *target) overtaken(err error) error {
	if !errors.Is(err, ErrChanged) {
		return err
	}
	return Refuse(Unreadable, t.given, "is being changed by a program at the same time").
		advise("Wait until the program has ended, look at the file, and try again.").because(err)
}

// unchanged reports whether a file is the one that was seen, as it was.
func unchanged(seen, now fs.FileInfo) bool {
	return os.SameFile(seen, now) && stateOf(seen) == stateOf(now)
}
