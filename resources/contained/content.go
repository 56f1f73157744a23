package contained

import (
	"io/fs"
	"os"
)

// Range is the part of a file that is wanted.
type Range struct {
	// Offset is the first byte, from 0 to the file's size.
	Offset int64
	// Length is the number of bytes; 0 means up to Limit. More than Limit is
	// as much as Limit.
	Length int64
	// Limit truncates, with Content.Next saying where to go on. If zero,
	// defaults to [DefaultReadBytes]; the hard cap is [MaxReadBytes].
	Limit int64
}

// Limits of reads, in bytes.
const (
	DefaultReadBytes = 100_000
	MaxReadBytes     = 16 << 20
)

// bytes gives the length of the page, at least 1. ok is false where the range
// makes no sense of itself.
func (r Range) bytes() (n int64, ok bool) {
	if r.Offset < 0 || r.Length < 0 || r.Limit < 0 || r.Offset > maxOffset {
		return 0, false
	}
	n = r.Limit
	if n == 0 {
		n = DefaultReadBytes
	}
	n = min(n, MaxReadBytes)
	if r.Length > 0 {
		n = min(n, r.Length)
	}
	return n, true
}

// maxOffset is beyond every file, and far from overflow.
const maxOffset = 1 << 60

// Content is what was read.
type Content struct {
	// Path is the clean path.
	Path string
	// MIME is its media type, of the extension where that is known and fits
	// the first bytes, else of the first bytes.
	MIME string
	// Size is the file's size in bytes. Of a file that gives none, as in
	// /proc, it is as much as was seen.
	Size int64
	// Offset is where Data begins. A page begins and ends between the
	// characters of UTF-8 text: it may begin or end up to three bytes off
	// what was asked.
	Offset int64
	// Data is the page, byte for byte: a byte-order mark stays.
	Data []byte
	// Text tells that the whole page is UTF-8 text without NUL, and not part
	// of an image.
	Text bool
	// Next is the offset of the next page, or 0 where the file ends here.
	// The pages that Next leads through make up the file.
	Next int64
}

// Read reads a page of a regular file. An offset at the file's size gives an
// empty page, one beyond it is [OutOfRange]. Errors are [*Error].
func (d *Dir) Read(name string, r Range) (Content, error) {
	file, info, clean, err := d.openNamed(name)
	if err != nil {
		return Content{}, err
	}
	defer file.Close()
	want, ok := r.bytes()
	if !ok {
		return Content{}, Refuse(OutOfRange, name, "is %d bytes long: it cannot be read from %d with length %d",
			info.Size(), r.Offset, r.Length)
	}
	window, err := readWindow(file, r.Offset, want, info.Size())
	if err != nil {
		return Content{}, d.refusal(name, err)
	}
	size := window.size(info.Size())
	if r.Offset > size {
		return Content{}, Refuse(OutOfRange, name, "is %d bytes long: it cannot be read from %d", size, r.Offset)
	}
	head, err := window.head(file)
	if err != nil {
		return Content{}, d.refusal(name, err)
	}
	content := window.page()
	content.Path, content.Size = clean, size
	content.MIME = d.mediaType(clean, head)
	content.Text = content.Text && !IsImage(content.MIME)
	return content, nil
}

// ReadAll reads a whole regular file of at most limit bytes, which is lowered
// to [MaxReadBytes]; 0 means that. A longer file is [TooLarge]. Errors are
// [*Error].
func (d *Dir) ReadAll(name string, limit int64) (Content, error) {
	if limit <= 0 || limit > MaxReadBytes {
		limit = MaxReadBytes
	}
	file, info, clean, err := d.openNamed(name)
	if err != nil {
		return Content{}, err
	}
	defer file.Close()
	if info.Size() > limit {
		return Content{}, Refuse(TooLarge, name, "is %d bytes long, over the limit of %d", info.Size(), limit)
	}
	data, err := readSection(file, 0, limit+1, info.Size())
	if err != nil {
		return Content{}, d.refusal(name, err)
	}
	if int64(len(data)) > limit {
		return Content{}, Refuse(TooLarge, name, "is longer than the limit of %d bytes", limit)
	}
	mime := d.mediaType(clean, data)
	return Content{
		Path: clean, MIME: mime, Size: int64(len(data)), Data: data,
		Text: isText(data) && !IsImage(mime),
	}, nil
}

// openNamed opens what a caller named, and gives its clean path.
func (d *Dir) openNamed(name string) (*os.File, fs.FileInfo, string, error) {
	clean, err := d.clean(name)
	if err != nil {
		return nil, nil, "", err
	}
	file, info, err := d.open(clean, name)
	return file, info, clean, err
}
