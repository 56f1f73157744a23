package server

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// oneLine puts an author's text on one line that shows all there is to it.
// White space is one space, so that nothing looks like lines of ours. What
// shows nothing itself (escapes, overrides of the direction of writing,
// zero-width spaces, tags) is left out, so that it reaches no terminal and
// hides nothing from people that models read.
func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.Map(visible, text)), " ")
}

// visible gives a character that shows, or -1. Joiners stay: emoji and the
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

// pathLine gives a path as it can be given back: as it is, or as a JSON
// string where a line of text would not show all of it.
func pathLine(path string) string {
	if utf8.ValidString(path) && oneLine(path) == path && !strings.HasPrefix(path, `"`) {
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
