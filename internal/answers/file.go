package answers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/skills-mcp/skills-mcp/internal/privatefile"
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
type file struct{ privatefile.File }

func fileIn(dir string) file {
	return file{privatefile.File{Dir: dir, Name: "answers.json", MaxBytes: maxFileBytes}}
}

type document struct {
	Version int      `json:"version"`
	Answers []Answer `json:"answers"`
}

// read returns what is kept: nothing where there is no file.
func (f file) read() ([]Answer, error) { return f.parse(f.Read()) }

// parse returns what was read. What is not as it was written is not believed,
// and so nothing of the file is.
func (f file) parse(data []byte, err error) ([]Answer, error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, privatefile.ErrTooLong):
		return nil, fmt.Errorf("%w: %w", errCorrupt, err)
	case err != nil:
		return nil, err
	}
	kept, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path(), err)
	}
	return kept, nil
}

func parse(data []byte) ([]Answer, error) {
	var stated struct{ Version int }
	if json.Unmarshal(data, &stated) != nil {
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
	return f.Locked(func(locked privatefile.Locked) error {
		kept, err := f.parse(locked.Read())
		if errors.Is(err, errCorrupt) {
			err = locked.SetAside()
		}
		if err != nil {
			return err
		}
		edited := edit(slices.Clone(kept))
		if slices.Equal(kept, edited) {
			return nil
		}
		encoded, err := json.MarshalIndent(document{formatVersion, edited}, "", "  ")
		if err != nil {
			return err
		}
		return locked.Write(append(encoded, '\n'))
	})
}

// remove removes the file, whatever it is.
func (f file) remove() error {
	if _, err := os.Lstat(f.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return f.Locked(privatefile.Locked.Remove)
}
