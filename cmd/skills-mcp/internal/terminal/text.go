package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

// Shorten puts an author's text on one line of at most n characters.
func Shorten(text string, n int) string {
	return truncate.To(Printable(strings.Join(strings.Fields(text), " ")), n)
}

// Printable leaves out what does not show itself, such as terminal escapes
// and overrides of the direction of writing, which a skill could hide behind.
func Printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c != ' ' && !unicode.IsGraphic(c) {
			return -1
		}
		return c
	}, text)
}

// Lines shows an error of several lines, in which text of others stands.
func Lines(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		lines[i] = Printable(line)
	}
	return strings.Join(lines, "\n")
}

// Field puts text of others on one line of at most n characters, which says
// what it is and nothing else.
func Field(text string, n int) string {
	if text == "" {
		text = "-"
	}
	return truncate.To(Escaped(strings.Join(strings.Fields(text), " ")), n)
}

// Counted says how many there are of what a noun names.
func Counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// PrintJSON prints a value as a line of JSON that a terminal shows as it is.
func PrintJSON(out io.Writer, value any) error {
	var encoded strings.Builder
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := io.WriteString(out, Escaped(encoded.String()))
	return err
}
