package terminal

import (
	"io"
	"os"
	"strings"
)

// colours are the ANSI sequences for the lines of a diff, by how they begin.
var colours = []struct{ prefix, colour string }{
	{"diff ", "\x1b[1m"}, {"--- ", "\x1b[1m"}, {"+++ ", "\x1b[1m"},
	{"@@", "\x1b[36m"}, {"+", "\x1b[32m"}, {"-", "\x1b[31m"},
}

// Coloured returns a diff as it is shown: on a terminal in colour, with all that
// a terminal would obey escaped.
func Coloured(out io.Writer, diff string) string {
	if !Is(out) {
		return diff
	}
	diff = Escaped(diff)
	if os.Getenv("NO_COLOR") != "" {
		return diff
	}
	var text strings.Builder
	for line := range strings.Lines(diff) {
		text.WriteString(colouredLine(line))
	}
	return text.String()
}

func colouredLine(line string) string {
	for _, c := range colours {
		if strings.HasPrefix(line, c.prefix) {
			body, ending := strings.TrimSuffix(line, "\n"), ""
			if len(body) < len(line) {
				ending = "\n"
			}
			return c.colour + body + "\x1b[0m" + ending
		}
	}
	return line
}
