// Package terminal writes what commands show so that text of others can do
// nothing to a terminal, and asks the person at one.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// Is reports whether what is written is shown on a terminal.
func Is(out io.Writer) bool {
	file, ok := Unredacted(out).(*os.File)
	return ok && isTerminalFd(file.Fd())
}

func isTerminalFd(fd uintptr) bool { return term.IsTerminal(int(fd)) }

// Escaped shows what a terminal would obey: control characters, C1 too, and
// those that turn the direction of writing or begin a line. Line breaks, those
// with CR too, and tabs are what they are.
func Escaped(text string) string {
	var shown strings.Builder
	for i, c := range text {
		switch {
		case c == '\n', c == '\t', c == '\r' && strings.HasPrefix(text[i:], "\r\n"):
			shown.WriteRune(c)
		case unicode.IsControl(c), unicode.In(c, unicode.Bidi_Control, unicode.Zl, unicode.Zp):
			fmt.Fprintf(&shown, "\\u%04x", c)
		default:
			shown.WriteRune(c)
		}
	}
	return shown.String()
}
