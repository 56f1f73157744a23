package contained

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// window is a page of a file with up to three bytes around it, which show
// whether it cuts a character.
type window struct {
	// data is what was read, from the offset start on.
	data  []byte
	start int64
	// offset is where the page shall begin, and want how long it shall be.
	offset, want int64
	// eof is set where the file ends where data does.
	eof bool
}

// around is how many bytes of a character can lie beyond a cut.
const around = utf8.UTFMax - 1

// readWindow reads want bytes at offset and what is around them. hint is the
// size that the file claims.
func readWindow(r io.ReaderAt, offset, want, hint int64) (window, error) {
	w := window{start: max(0, offset-around), offset: offset, want: want}
	most := offset - w.start + want + around
	data, err := readSection(r, w.start, most, hint)
	w.data, w.eof = data, int64(len(data)) < most
	return w, err
}

// readSection reads up to most bytes at offset, and less only where the file
// ends. It takes no more memory than there is to read, and trusts the claimed
// size for nothing but the first allocation.
func readSection(r io.ReaderAt, offset, most, claimed int64) ([]byte, error) {
	first := min(most, max(0, claimed-offset)+bytes.MinRead)
	data := make([]byte, 0, first)
	for int64(len(data)) < most {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		free := data[len(data):min(int64(cap(data)), most)]
		n, err := r.ReadAt(free, offset+int64(len(data)))
		data = data[:len(data)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}

// size returns the file's size: what was seen, or what it claims where that is
// more and the end was not seen.
func (w window) size(claimed int64) int64 {
	seen := w.start + int64(len(w.data))
	if w.eof && (len(w.data) > 0 || w.start == 0) {
		return seen
	}
	if w.eof {
		// Nothing lies here: the end is before the window.
		return min(claimed, seen)
	}
	return max(claimed, seen)
}

// head returns the first bytes of the file, for its media type.
func (w window) head(r io.ReaderAt) ([]byte, error) {
	if w.start == 0 && (w.eof || len(w.data) >= sniffBytes) {
		return w.data[:min(len(w.data), sniffBytes)], nil
	}
	return readSection(r, 0, sniffBytes, sniffBytes)
}

// page cuts the page out. Its end is always moved back to where no character
// is cut, so that the next page can begin with text; its beginning only where
// that makes text of it, so that binary data begins where it was asked to.
func (w window) page() Content {
	begin := int(w.offset - w.start)
	end := int(min(int64(begin)+w.want, int64(len(w.data))))
	end, width := characterAt(w.data, end)
	if end <= begin && width > 0 {
		end += width // never an empty page before the end
	}
	text := true
	if from, _ := characterAt(w.data, begin); isText(w.data[from:end]) {
		begin = from
	} else {
		text = false
	}
	content := Content{
		Offset: w.start + int64(begin),
		Data:   w.data[begin:end:end],
		Text:   text,
	}
	if !w.eof || end < len(w.data) {
		content.Next = w.start + int64(end)
	}
	return content
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
