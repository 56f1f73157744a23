package catalog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/skills-mcp/skills-mcp/catalog/internal/archive"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
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
	source, err := os.OpenFile(file, os.O_RDONLY|openflag.NonBlock, 0)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", file)
	}
	if err := os.MkdirAll(into, 0o777); err != nil {
		return nil, err
	}
	own, err := os.MkdirTemp(into, ".skills-mcp-unpack-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(own)) }()
	stem := archive.Stem(file)
	whole := filepath.Join(own, stem)
	if err := os.Mkdir(whole, 0o777); err != nil {
		return nil, err
	}
	if err := archive.Unpack(source, info.Size(), whole); err != nil {
		return nil, advised(err)
	}
	return place(own, stem, into)
}

// place moves what was extracted to a directory in own into place.
func place(own, stem, into string) (made []string, err error) {
	entries, err := os.ReadDir(filepath.Join(own, stem))
	if err != nil {
		return nil, err
	}
	from, names := own, []string{stem}
	if onlyDirectories(entries) {
		from, names = filepath.Join(own, stem), nil
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
	}
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(into, name)); !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s is there already; nothing was unpacked", filepath.Join(into, name))
		}
	}
	for _, name := range names {
		target := filepath.Join(into, name)
		if err := os.Rename(filepath.Join(from, name), target); err != nil {
			return made, err
		}
		made = append(made, target)
	}
	return made, nil
}

func onlyDirectories(entries []os.DirEntry) bool {
	for _, entry := range entries {
		if !entry.IsDir() {
			return false
		}
	}
	return len(entries) > 0
}

// advised adds to a fault of an archive its rule, and what to do.
func advised(err error) error {
	if fault, ok := errors.AsType[*archive.Fault](err); ok {
		return fmt.Errorf("%w [%s]; %s", err, fault.Rule, problem.Lookup(fault.Rule).Hint)
	}
	return err
}
