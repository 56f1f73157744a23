package archive

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
	"github.com/skills-mcp/skills-mcp/internal/ignored"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// storedRatio is how many times smaller a file may become. One that would be
// smaller still is stored, so that no reader takes the archive for a bomb.
const storedRatio = maxRatio / 2

// packed is when all files of an archive were changed: the earliest time of ZIP.
var packed = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Pack returns an archive of the files of a directory, below a directory of that
// name, without those that tools leave behind. The bytes depend on the names and
// the content of files, and on whether they can be executed, and on nothing else.
// What [Archives] refuses it refuses too, with a [*Fault].
func Pack(dir, top string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	headers, err := collect(root, top)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	writer := zip.NewWriter(&out)
	for _, header := range headers {
		if err := pack(writer, root, header, strings.TrimPrefix(header.Name, top+"/")); err != nil {
			return nil, err
		}
		if out.Len() > maxBytes {
			return nil, faultf("archive-limit", "the archive is larger than %d MiB", maxBytes>>20)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// collect returns the headers of all files, sorted by name, and checks them as a
// reader does.
func collect(root *os.Root, top string) (headers []*zip.FileHeader, err error) {
	budget, files := int64(maxContents), []*zip.File{}
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case entry.IsDir() && (ignored.Name(entry.Name()) || !strings.Contains(name, "/") && ignored.Directory(entry.Name())):
			return fs.SkipDir
		case entry.IsDir() || ignored.Name(entry.Name()):
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: path.Join(top, name), Method: zip.Deflate, Modified: packed}
		header.SetMode(info.Mode().Type() | 0o644)
		if info.Mode()&0o111 != 0 {
			header.SetMode(info.Mode().Type() | 0o755)
		}
		headers, files = append(headers, header), append(files, &zip.File{FileHeader: *header})
		budget -= info.Size()
		if budget < 0 || len(files) > maxFiles {
			return faultf("archive-limit", "the directory holds more than %d MiB, or more than %d files", maxContents>>20, maxFiles)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(headers, func(a, b *zip.FileHeader) int { return strings.Compare(a.Name, b.Name) })
	_, err = planEntries(files)
	return headers, err
}

// pack adds one file.
func pack(writer *zip.Writer, root *os.Root, header *zip.FileHeader, name string) error {
	file, err := root.OpenFile(name, os.O_RDONLY|openflag.NonBlock, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(faultf("archive-link", "%q is neither a file nor a directory", problem.Clip(name)), err)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxContents+1))
	if err != nil {
		return err
	}
	if small, err := compressed(data); err != nil {
		return err
	} else if small >= len(data) || len(data)/small > storedRatio {
		header.Method = zip.Store
	}
	target, err := writer.CreateHeader(header)
	if err != nil {
		return err
	}
	_, err = target.Write(data)
	return err
}

// compressed returns how many bytes a text takes in an archive.
func compressed(data []byte) (int, error) {
	var small bytes.Buffer
	compressor, err := flate.NewWriter(&small, flate.DefaultCompression)
	if err != nil {
		return 0, err
	}
	if _, err := compressor.Write(data); err != nil {
		return 0, err
	}
	err = compressor.Close()
	return small.Len(), err
}
