package answers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// Names in the directory.
const (
	fileName    = "answers.json"
	newName     = "answers.json.new"
	corruptName = "answers.json.corrupt"
	lockName    = "lock"
)

// maxFileBytes is how long the file may be: more than so many answers are.
const maxFileBytes = 16 << 20

// formatVersion is that of the file.
const formatVersion = 1

var (
	errIncomplete = errors.New("an answer is bound to a skill, its directory, its version and what was granted")
	// errCorrupt is a file that holds no answers, or not all of them.
	errCorrupt = errors.New("it is damaged")
)

// file is where the answers of one user are. Readers take no lock: what they see
// is whole.
type file struct{ dir string }

type document struct {
	Version int      `json:"version"`
	Answers []Answer `json:"answers"`
}

// open opens the directory, which has to be this user's alone. The caller
// closes it.
func (f file) open() (*os.Root, error) {
	info, err := os.Lstat(f.dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is no directory", f.dir)
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(info, opened) {
		err = fmt.Errorf("%s is another directory by now", f.dir)
	}
	if err == nil {
		err = private(f.dir, opened)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// private refuses what is another user's, or what others can write to.
func private(path string, info fs.FileInfo) error {
	switch {
	case !filestat.Ours(info):
		return fmt.Errorf("%s belongs to another user", path)
	case filestat.WritableByOthers(info):
		return fmt.Errorf("%s can be written by other users", path)
	}
	return nil
}

// read returns what is kept: nothing where there is no file.
func (f file) read() ([]Answer, error) {
	root, err := f.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return f.readFrom(root)
}

func (f file) readFrom(root *os.Root) ([]Answer, error) {
	path := filepath.Join(f.dir, fileName)
	opened, err := root.OpenFile(fileName, os.O_RDONLY|openflag.NoFollow|openflag.NonBlock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || filestat.Links(info) > 1 {
		return nil, fmt.Errorf("%s is a link or no file", path)
	}
	if err := private(path, info); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(opened, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	kept, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return kept, nil
}

// parse reads a file. What is not as it was written is not believed, and so
// nothing of the file is.
func parse(data []byte) ([]Answer, error) {
	var stated struct{ Version int }
	if len(data) > maxFileBytes || json.Unmarshal(data, &stated) != nil {
		return nil, errCorrupt
	}
	if stated.Version > formatVersion {
		return nil, fmt.Errorf("it is of a later version of this program (format %d)", stated.Version)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var read document
	if err := decoder.Decode(&read); err != nil || read.Version != formatVersion || len(read.Answers) > maxAnswers {
		return nil, errCorrupt
	}
	for _, answer := range read.Answers {
		if !answer.complete() || answer.ID != answer.Subject.id() || answer.Given.IsZero() {
			return nil, errCorrupt
		}
	}
	return read.Answers, nil
}

// update changes what is kept, while no other process does. A damaged file is
// set aside.
func (f file) update(edit func([]Answer) []Answer) error {
	return f.locked(func(root *os.Root) error {
		kept, err := f.readFrom(root)
		if errors.Is(err, errCorrupt) {
			err = root.Rename(fileName, corruptName)
		}
		if err != nil {
			return err
		}
		edited := edit(slices.Clone(kept))
		if slices.Equal(kept, edited) {
			return nil
		}
		return write(root, edited)
	})
}

// remove removes the file, whatever it is.
func (f file) remove() error {
	if _, err := os.Lstat(f.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return f.locked(func(root *os.Root) error {
		for _, name := range []string{fileName, corruptName, newName} {
			if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
}

// locked runs work in the directory, which it makes, while no other process
// does.
func (f file) locked(work func(*os.Root) error) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	root, err := f.open()
	if err != nil {
		return err
	}
	defer root.Close()
	lock, err := lockedfile.OpenFile(filepath.Join(f.dir, lockName), os.O_RDWR|os.O_CREATE|openflag.NoFollow|openflag.NonBlock, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	return work(root)
}

// write puts a new file in the place of the old one, which is there until then.
func write(root *os.Root, kept []Answer) error {
	encoded, err := json.MarshalIndent(document{formatVersion, kept}, "", "  ")
	if err != nil {
		return err
	}
	if err := root.Remove(newName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	written, err := root.OpenFile(newName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = written.Write(append(encoded, '\n'))
	if err == nil {
		err = written.Sync()
	}
	if err = errors.Join(err, written.Close()); err != nil {
		return err
	}
	return root.Rename(newName, fileName)
}
