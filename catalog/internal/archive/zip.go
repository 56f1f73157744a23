package archive

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
	"github.com/skills-mcp/skills-mcp/internal/ignored"
)

// Bounds of one archive.
const (
	maxBytes     = 64 << 20  // the file
	maxContents  = 128 << 20 // its contents
	maxFiles     = 8192      // files and directories
	maxDirectory = 2 << 20   // the central directory, in bytes
	maxRatio     = 200       // contents to file, beyond a free MiB
	maxDepth     = 32        // segments of a name
)

// Fault is what makes an archive unusable, in words for its author.
type Fault struct{ Rule, message string }

func (f *Fault) Error() string { return f.message }

func faultf(rule, format string, args ...any) error {
	return &Fault{rule, fmt.Sprintf(format, args...)}
}

// unpack extracts a ZIP file (PKWARE APPNOTE 6.3) into the empty directory
// dir. It takes all of it or fails, for a [*Fault] or for this machine; dir may then
// hold a part.
func unpack(file io.ReaderAt, size int64, dir string) error {
	if size > maxBytes {
		return faultf("archive-limit", "the archive is larger than %d MiB", maxBytes>>20)
	}
	if err := checkDirectory(file, size); err != nil {
		return err
	}
	archive, err := zip.NewReader(file, size)
	if err != nil {
		return faultf("archive-format", "the archive is not a ZIP file: %v", err)
	}
	entries, err := planEntries(archive.File)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	budget := min(maxContents, maxRatio*size+1<<20)
	for _, entry := range entries {
		written, err := entry.extract(root, budget)
		if err != nil {
			return err
		}
		budget -= written
	}
	return nil
}

// checkDirectory bounds the central directory before it is read into memory.
// It must lie exactly before the record that ends it, so that what is
// checked is what is read.
func checkDirectory(file io.ReaderAt, size int64) error {
	const recordBytes, maxComment = 22, 1<<16 - 1
	tail := make([]byte, min(size, recordBytes+maxComment))
	if _, err := file.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for i := len(tail) - recordBytes; i >= 0; i-- {
		record := tail[i:]
		if binary.LittleEndian.Uint32(record) != 0x06054b50 || recordBytes+int(binary.LittleEndian.Uint16(record[20:])) > len(record) {
			continue
		}
		count := int64(binary.LittleEndian.Uint16(record[10:]))
		length := int64(binary.LittleEndian.Uint32(record[12:]))
		offset := int64(binary.LittleEndian.Uint32(record[16:]))
		switch at := size - int64(len(record)); {
		case count > maxFiles || length > maxDirectory:
			return faultf("archive-limit", "the archive holds more than %d files", maxFiles)
		case offset+length != at:
			return faultf("archive-format", "the archive's directory is not where it should be")
		}
		return nil
	}
	return faultf("archive-format", "the archive is not a ZIP file, or not a whole one")
}

// zipEntry is a file or directory that may be extracted.
type zipEntry struct {
	*zip.File
	name string // clean and slash-separated
}

// planEntries checks all names before anything is written.
func planEntries(files []*zip.File) ([]zipEntry, error) {
	var entries []zipEntry
	type taker struct {
		name  string
		isDir bool
	}
	taken := map[string]taker{} // by folded name
	fold := cases.Fold()
	for _, file := range files {
		name := strings.TrimSuffix(file.Name, "/")
		if first, _, _ := strings.Cut(name, "/"); ignored.Directory(first) || ignored.Name(path.Base(name)) {
			continue
		}
		if err := checkEntry(file, name); err != nil {
			return nil, err
		}
		now := taker{name, file.Mode().IsDir()}
		for ; now.name != "."; now = (taker{path.Dir(now.name), true}) {
			key := fold.String(norm.NFC.String(now.name))
			if was, found := taken[key]; found && (was != now || !now.isDir) {
				return nil, faultf("archive-duplicate", "the names %q and %q clash", problem.Clip(was.name), problem.Clip(now.name))
			}
			taken[key] = now
		}
		entries = append(entries, zipEntry{file, name})
	}
	return entries, nil
}

// checkEntry refuses everything but regular files and directories with
// harmless names.
func checkEntry(file *zip.File, name string) error {
	mode := file.Mode()
	switch {
	case !utf8.ValidString(name) || !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\:") || problem.IsMisleading(name):
		return faultf("archive-name", "the archive holds the name %q", problem.Clip(file.Name))
	case strings.Count(name, "/") >= maxDepth:
		return faultf("archive-name", "the name %q has more than %d segments", problem.Clip(name), maxDepth)
	case !mode.IsRegular() && !mode.IsDir():
		return faultf("archive-link", "%q is neither a file nor a directory", problem.Clip(name))
	case mode.IsDir() && file.UncompressedSize64 > 0:
		return faultf("archive-format", "the directory %q has contents", problem.Clip(name))
	case file.Flags&1 != 0:
		return faultf("archive-format", "%q is encrypted", problem.Clip(name))
	case file.Method != zip.Store && file.Method != zip.Deflate:
		return faultf("archive-format", "%q is compressed in a way that is not supported", problem.Clip(name))
	}
	return nil
}

// extract writes one entry, of at most budget bytes.
func (e zipEntry) extract(root *os.Root, budget int64) (written int64, err error) {
	if e.Mode().IsDir() {
		return 0, root.MkdirAll(e.name, 0o755)
	}
	if err := root.MkdirAll(path.Dir(e.name), 0o755); err != nil {
		return 0, err
	}
	source, err := e.Open()
	if err != nil {
		return 0, faultf("archive-format", "%q cannot be read: %v", problem.Clip(e.name), err)
	}
	defer source.Close()
	mode := fs.FileMode(0o644) | e.Mode()&0o111
	target, err := root.OpenFile(e.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	written, err = io.Copy(target, io.LimitReader(source, budget+1))
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return written, err // writing failed
	}
	switch {
	case err != nil:
		return written, faultf("archive-format", "%q cannot be read: %v", problem.Clip(e.name), err)
	case written > budget:
		return written, faultf("archive-limit", "the archive's contents are more than %d MiB, or more than %d times its size", maxContents>>20, maxRatio)
	}
	return written, nil
}
