package contained

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// File is an open file or directory.
type File struct {
	dir         *Dir
	path, given string
	info        fs.FileInfo
	file        *os.File // nil of a directory
}

// Open opens the regular file or the directory that name leads to. The caller
// closes it. Errors are [*Error], here and of all methods.
func (d *Dir) Open(name string) (*File, error) {
	clean, info, err := d.find(name)
	if err != nil {
		return nil, err
	}
	f := &File{dir: d, path: clean, given: name, info: info}
	if !info.IsDir() {
		if f.file, f.info, err = d.openSeen(clean, name); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// NewFile returns a regular file that was opened otherwise, with the path that
// readers know, for messages and its media type. [File.Close] closes it.
func NewFile(file *os.File, path string) (*File, error) {
	f := &File{dir: new(Dir), path: path, given: path, file: file}
	var err error
	if f.info, err = file.Stat(); err != nil {
		return nil, f.dir.refusal(path, err)
	}
	return f, nil
}

// Close releases the file.
func (f *File) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// IsDir reports whether it is a directory.
func (f *File) IsDir() bool { return f.file == nil }

// Size returns the size in bytes that the file claimed when it was opened, which a
// file of a special kind may have wrong.
func (f *File) Size() int64 { return f.info.Size() }

// Read reads a page of a file. An offset at the file's size has an empty
// page, one beyond it is [OutOfRange].
func (f *File) Read(r Range) (Content, error) {
	if f.IsDir() {
		return Content{}, Refuse(IsDirectory, f.given, "is a directory")
	}
	want, ok := r.bytes()
	if !ok {
		return Content{}, Refuse(OutOfRange, f.given, "is %d bytes long: it cannot be read from %d with length %d",
			f.info.Size(), r.Offset, r.Length)
	}
	page, head, err := readPage(f.file, r.Offset, want, f.info.Size())
	if err != nil {
		return Content{}, f.dir.refusal(f.given, err)
	}
	if r.Offset > page.Size {
		return Content{}, Refuse(OutOfRange, f.given, "is %d bytes long: it cannot be read from %d", page.Size, r.Offset)
	}
	return f.content(page, head), nil
}

// Around returns what was read of the file with up to so many bytes before and
// after it, and where in that it begins.
func (f *File) Around(read Content, margin int) (data []byte, from int, err error) {
	begin, end := max(0, read.Offset-int64(margin)), read.Offset+int64(len(read.Data))
	before, err := readSection(f.file, begin, read.Offset-begin, f.info.Size())
	if err != nil {
		return nil, 0, f.dir.refusal(f.given, err)
	}
	after, err := readSection(f.file, end, int64(margin), f.info.Size())
	if err != nil {
		return nil, 0, f.dir.refusal(f.given, err)
	}
	return slices.Concat(before, read.Data, after), len(before), nil
}

// ReadAll reads a whole file of at most limit bytes, which is lowered to
// [MaxReadBytes]; 0 means that. A longer file is [TooLarge].
func (f *File) ReadAll(limit int64) (Content, error) {
	if limit <= 0 || limit > MaxReadBytes {
		limit = MaxReadBytes
	}
	if f.IsDir() {
		return Content{}, Refuse(IsDirectory, f.given, "is a directory")
	}
	data, err := f.dir.readLimited(f.file, f.given, f.info.Size(), limit)
	if err != nil {
		return Content{}, err
	}
	return f.content(Content{Data: data, Size: int64(len(data)), Text: isText(data)}, data), nil
}

// content adds what the beginning of the file shows to what was read.
func (f *File) content(read Content, head []byte) Content {
	read.Path, read.MIME = f.path, f.dir.mediaType(f.path, head)
	read.Text = read.Text && !IsImage(read.MIME)
	return read
}

// ReadAll opens and reads a whole file, as [File.ReadAll] does.
func (d *Dir) ReadAll(name string, limit int64) (Content, error) {
	f, err := d.Open(name)
	if err != nil {
		return Content{}, err
	}
	defer f.Close()
	return f.ReadAll(limit)
}

// readLimited reads an open file of the claimed size.
func (d *Dir) readLimited(file *os.File, given string, claimed, limit int64) ([]byte, error) {
	if claimed > limit {
		return nil, Refuse(TooLarge, given, "is %d bytes long, over the limit of %d", claimed, limit)
	}
	data, err := readSection(file, 0, limit+1, claimed)
	switch {
	case err != nil:
		return nil, d.refusal(given, err)
	case int64(len(data)) > limit:
		return nil, Refuse(TooLarge, given, "is longer than the limit of %d bytes", limit)
	}
	return data, nil
}

// openSeen opens what was a regular file a moment ago. It may have been swapped
// since: the open must not be made to wait, and what was opened is looked at
// again.
func (d *Dir) openSeen(clean, given string) (*os.File, fs.FileInfo, error) {
	file, err := d.root.OpenFile(clean, os.O_RDONLY|openflag.NonBlock|openflag.NoTerminal, 0)
	if err != nil {
		return nil, nil, d.refusal(given, err)
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		err = d.refusal(given, err)
	case info.IsDir():
		err = Refuse(IsDirectory, given, "is a directory")
	default:
		err = d.checkMode(info, given)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// ErrChanged means that a file is not any more what it was a moment ago.
var ErrChanged = errors.New("changed meanwhile")

// Copy writes a file that [Dir.Walk] visited to w, but no more than limit
// bytes. info is that of the opened file, or nil. The error is [ErrChanged]
// where the file changed meanwhile, that of w, or [*Error].
func (d *Dir) Copy(w io.Writer, clean string, limit int64) (info fs.FileInfo, size int64, err error) {
	file, info, err := d.openSeen(clean, clean)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	buffer := make([]byte, min(256<<10, info.Size()+bytes.MinRead))
	size, err = io.CopyBuffer(w, io.LimitReader(file, limit), buffer)
	var failed *fs.PathError
	switch {
	case errors.As(err, &failed) && failed.Op == "read":
		return info, size, d.refusal(clean, err)
	case err != nil:
		return info, size, err
	}
	if after, err := file.Stat(); err != nil || filestat.Of(info) != filestat.Of(after) {
		return info, size, ErrChanged
	}
	return info, size, nil
}
