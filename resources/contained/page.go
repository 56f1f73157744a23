package contained

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// around is how many bytes of a character can lie beyond a cut.
const around = utf8.UTFMax - 1

// readPage reads a page of a file that claims a size, and the beginning of the
// file, for its media type. Where the offset is beyond the end, the page has
// its size alone.
func readPage(r io.ReaderAt, offset, want, claimed int64) (page Content, head []byte, err error) {
	// What is around the page shows whether it cuts a character.
	start := max(0, offset-around)
	most := offset - start + want + around
	data, err := readSection(r, start, most, claimed)
	if err != nil {
		return Content{}, nil, err
	}
	seen, eof := start+int64(len(data)), int64(len(data)) < most
	size := seen
	if !eof {
		size = max(claimed, seen)
	} else if len(data) == 0 {
		size = min(claimed, seen) // the end is here or before
	}
	if offset > size {
		return Content{Size: size}, nil, nil
	}
	page = cutPage(data, int(offset-start), want)
	page.Size, page.Offset = size, start+page.Offset
	if end := page.Offset + int64(len(page.Data)); !eof || end < seen {
		page.Next = end
	}
	head = data[:min(len(data), sniffBytes)]
	if start > 0 || len(head) < sniffBytes && !eof {
		head, err = readSection(r, 0, sniffBytes, sniffBytes)
	}
	return page, head, err
}

// cutPage cuts a page out of data. Its end is always moved back to where no
// character is cut, so that the next page can begin with text; its beginning
// only where that makes text of it, so that binary data begins where it was
// asked to.
func cutPage(data []byte, begin int, want int64) Content {
	end, width := characterAt(data, int(min(int64(begin)+want, int64(len(data)))))
	if end <= begin && width > 0 {
		end += width // never an empty page before the end
	}
	from, _ := characterAt(data, begin)
	text := isText(data[from:end])
	if !text {
		from = begin
	}
	return Content{Offset: int64(from), Data: data[from:end:end], Text: text}
}

// readSection reads up to most bytes at offset, and less only where the file
// ends. It takes no more memory than there is to read, and trusts the claimed
// size for nothing but the first allocation.
func readSection(r io.ReaderAt, offset, most, claimed int64) ([]byte, error) {
	var data bytes.Buffer
	data.Grow(int(min(most, max(0, claimed-offset)) + bytes.MinRead))
	_, err := data.ReadFrom(io.NewSectionReader(r, offset, most))
	return data.Bytes(), err
}

// characterAt returns the beginning and the width of the UTF-8 character that
// lies across the cut before data[cut], or cut and 0 where there is none.
func characterAt(data []byte, cut int) (begin, width int) {
	if cut >= len(data) {
		return cut, 0
	}
	for begin := cut - 1; begin >= max(0, cut-around); begin-- {
		if !utf8.RuneStart(data[begin]) {
			continue
		}
		// Bytes that are no UTF-8 have width 1 and reach no cut.
		if _, width := utf8.DecodeRune(data[begin:]); begin+width > cut {
			return begin, width
		}
		break
	}
	return cut, 0
}

// isText reports whether data is UTF-8 without NUL.
func isText(data []byte) bool {
	return bytes.IndexByte(data, 0) < 0 && utf8.Valid(data)
}
