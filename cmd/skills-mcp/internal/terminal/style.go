package terminal

import (
	"io"
	"os"
)

// Style is how a part of a text stands out on a terminal.
type Style string

// The styles, by the ANSI sequences that begin them.
const (
	Strong  Style = "\x1b[1m"
	Good    Style = "\x1b[32m"
	Warning Style = "\x1b[33m"
	Fault   Style = "\x1b[1;31m"
)

// Styled returns what makes parts of a text stand out where it is shown on a
// terminal, and leaves them as they are elsewhere and with NO_COLOR.
func Styled(out io.Writer) func(Style, string) string {
	if !Is(out) || os.Getenv("NO_COLOR") != "" {
		return func(_ Style, text string) string { return text }
	}
	return func(style Style, text string) string { return string(style) + text + "\x1b[0m" }
}
