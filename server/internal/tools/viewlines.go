package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// maxLineBytes is how much of one line view shows.
const maxLineBytes = 20_000

// byteOrderMark begins some files of text, and is no part of the text.
const byteOrderMark = "\uFEFF"

// lineRange are lines of a text, counted from 1. The zero value is all.
type lineRange struct {
	first, last int // last is -1 for the end
	given       bool
}

func newLineRange(bounds []int) (lineRange, error) {
	if bounds == nil {
		return lineRange{first: 1, last: -1}, nil
	}
	first, last := bounds[0], bounds[1]
	if first < 1 || last != -1 && last < first {
		return lineRange{}, failure.New(failure.OutOfRange, "Give [start_line, end_line] with lines from 1; -1 as end_line means the last line.",
			"view_range [%d, %d] has no lines", first, last)
	}
	return lineRange{first, last, true}, nil
}

// viewLines shows lines with their numbers, and says how to go on where they
// are too many for one answer.
func viewLines(content contained.Content, wanted lineRange) (*mcp.CallToolResult, error) {
	lines := splitLines(string(content.Data))
	if wanted.first > max(len(lines), 1) {
		return nil, failure.New(failure.OutOfRange, "Give a start_line up to that.", "%s has %d lines%s", display.Path(content.Path), len(lines), countedIn(content))
	}
	last := len(lines)
	if wanted.last != -1 {
		last = min(last, wanted.last)
	}
	var text strings.Builder
	shown := wanted.first - 1
	for shown < last {
		line := numbered(shown+1, lines[shown])
		if text.Len() > 0 && text.Len()+len(line) > maxTextPageBytes {
			break
		}
		text.WriteString(line)
		shown++
	}
	if len(lines) == 0 {
		text.WriteString("(empty)\n")
	}
	result := mcp.NewToolResultText(text.String())
	switch {
	case shown < last:
		notice := fmt.Sprintf("[Truncated: lines %d to %d of %d%s. Go on with \"view_range\": [%d, %d].]",
			wanted.first, shown, len(lines), countedIn(content), shown+1, wanted.last)
		result.Content = append(result.Content, mcp.NewTextContent(notice))
	case shown == len(lines) && content.Next > 0:
		notice := fmt.Sprintf("[Truncated: the file has %s, of which %s can be viewed. Look further with a program, such as tail.]",
			display.Size(content.Size), display.Size(content.Next))
		result.Content = append(result.Content, mcp.NewTextContent(notice))
	}
	return result, nil
}

// countedIn says in what lines were counted where that is not the whole file.
func countedIn(content contained.Content) string {
	if content.Next == 0 {
		return ""
	}
	return " in the first " + display.Size(content.Next)
}

// splitLines returns the lines without what ends them. A line break at the end
// begins no further line.
func splitLines(text string) []string {
	text = strings.TrimPrefix(text, byteOrderMark)
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	return lines
}

// numbered returns a line as view shows it.
func numbered(number int, line string) string {
	if len(line) <= maxLineBytes {
		return fmt.Sprintf("%6d\t%s\n", number, line)
	}
	end := maxLineBytes
	for !utf8.RuneStart(line[end]) {
		end--
	}
	return fmt.Sprintf("%6d\t%s [… %d more bytes in this line; look at them with a program, such as cut]\n", number, line[:end], len(line)-end)
}
