package catalog

import (
	"errors"
	"fmt"

	"github.com/skills-mcp/skills-mcp/catalog/internal/archive"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// Pack returns an archive (.skill) of a directory, in which its files lie below one
// of that name. Its bytes depend on the names and the content of files, and on which
// can be executed. What could not be unpacked is an error that says what to do;
// links are never followed.
func Pack(dir, name string) ([]byte, error) {
	packed, err := archive.Pack(dir, name)
	return packed, advised(err)
}

// Unpack extracts an archive into a directory in which it makes one, or more where
// the archive holds more than one at its top and no file, and returns what it made.
// Where files lie at the top, the directory is named as the archive is. What is
// there already stays, and is an error. Nothing is written outside, and nothing at
// all where a part of the archive cannot be taken.
func Unpack(file, into string) (made []string, err error) {
	made, err = archive.UnpackFile(file, into)
	return made, advised(err)
}

// advised adds to a fault of an archive its rule, and what to do.
func advised(err error) error {
	if fault, ok := errors.AsType[*archive.Fault](err); ok {
		return fmt.Errorf("%w [%s]; %s", err, fault.Rule, problem.Lookup(fault.Rule).Hint)
	}
	return err
}
