package contained

import "cmp"

// Range is the part of a file that is wanted.
type Range struct {
	// Offset is the first byte, from 0 to the file's size.
	Offset int64
	// Length is the number of bytes; 0 means up to Limit. More than Limit is
	// as much as Limit.
	Length int64
	// Limit truncates, with Content.Next saying where to go on. If zero,
	// defaults to 100,000 bytes; the hard cap is [MaxReadBytes].
	Limit int64
}

// Limits of reads, in bytes.
const (
	defaultReadBytes = 100_000
	MaxReadBytes     = 16 << 20
)

// bytes returns the length of the page, at least 1. ok is false where the range
// makes no sense of itself.
func (r Range) bytes() (n int64, ok bool) {
	n = min(cmp.Or(r.Limit, defaultReadBytes), cmp.Or(r.Length, MaxReadBytes), MaxReadBytes)
	return n, min(r.Offset, r.Length, r.Limit) >= 0 && r.Offset <= maxOffset
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
	// Size is the file's size in bytes. Of a file that claims none, as in
	// /proc, it is as much as was seen.
	Size int64
	// Offset is where Data begins. A page begins and ends between the
	// characters of UTF-8 text: it may begin or end up to three bytes off
	// what was asked.
	Offset int64
	// Data is the page, byte for byte: a byte-order mark stays.
	Data []byte
	// Text is set where the whole page is UTF-8 text without NUL, and not part
	// of an image.
	Text bool
	// Next is the offset of the next page, or 0 where the file ends here.
	// The pages that Next leads through make up the file.
	Next int64
}
