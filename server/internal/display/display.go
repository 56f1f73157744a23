// Package display writes what others chose (names, paths, texts of authors and
// callers) as answers show it: on one line, with nothing hidden in it, and no
// longer than it may be. What comes out of it is safe for a terminal; it is
// not escaped for any markup.
package display

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Line puts an author's text on one line that shows all there is to it.
// White space is one space, so that nothing looks like lines of ours. What
// shows nothing itself (escapes, overrides of the direction of writing,
// zero-width spaces, tags) is left out, so that it reaches no terminal and
// hides nothing from people that models read.
func Line(text string) string {
	return strings.Join(strings.Fields(strings.Map(visible, text)), " ")
}

// visible returns a character that shows, or -1. Joiners stay: emoji and the
// scripts of Persia and India are spelt with them.
func visible(c rune) rune {
	const nonJoiner, joiner = '\u200C', '\u200D'
	switch {
	case c == nonJoiner, c == joiner, unicode.IsSpace(c), unicode.Is(unicode.Prepended_Concatenation_Mark, c):
		return c
	case unicode.In(c, unicode.Cc, unicode.Cf):
		return -1
	}
	return c
}

// Path returns a path as it can be given back: as it is, or as a JSON
// string where a line of text would not show all of it.
func Path(path string) string {
	if utf8.ValidString(path) && Line(path) == path && !strings.HasPrefix(path, `"`) {
		return path
	}
	var line strings.Builder
	line.WriteByte('"')
	for _, c := range path {
		switch {
		case c == '"' || c == '\\':
			line.WriteString(`\` + string(c))
		case c != ' ' && unicode.IsSpace(c), visible(c) < 0:
			for _, unit := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&line, `\u%04x`, unit)
			}
		default:
			line.WriteRune(c)
		}
	}
	line.WriteByte('"')
	return line.String()
}

// Size returns a number of bytes as people write it.
func Size(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1000)
	default:
		return fmt.Sprintf("%.1f MB", float64(bytes)/1000_000)
	}
}

// Counted says how many there are of what a noun names.
func Counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
