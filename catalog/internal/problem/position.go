package problem

import (
	"bytes"
	"unicode/utf8"
)

// Position is a place in a file, counted from 1, columns in characters; zero
// where it is not known.
type Position struct{ Line, Column int }

// At returns a position.
func At(line, column int) Position { return Position{Line: line, Column: column} }

// AtByte returns the position of a byte of a text that begins on that line.
func AtByte(text []byte, offset, line int) Position {
	before := text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return At(line+bytes.Count(before, []byte("\n")), utf8.RuneCount(before[start:])+1)
}

// InvalidUTF8 returns the position of the first byte that is not UTF-8 in a
// text that begins on that line.
func InvalidUTF8(text []byte, line int) (at Position, found bool) {
	if utf8.Valid(text) {
		return Position{}, false
	}
	for i := 0; ; {
		c, size := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && size <= 1 {
			return AtByte(text, i, line), true
		}
		i += size
	}
}
