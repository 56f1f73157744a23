package archive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// UnpackFile extracts an archive into a directory in which it makes one, or those
// at the archive's top where there is no file, and returns what it made. It takes
// no place of what is there, and makes nothing where it fails for the archive.
func UnpackFile(file, into string) (made []string, err error) {
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
	stem := stemOf(file)
	whole := filepath.Join(own, stem)
	if err := os.Mkdir(whole, 0o777); err != nil {
		return nil, err
	}
	if err := unpack(source, info.Size(), whole); err != nil {
		return nil, err
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
