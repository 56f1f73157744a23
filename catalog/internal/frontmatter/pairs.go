package frontmatter

import (
	"fmt"
	"strconv"
	"unicode/utf16"

	"go.yaml.in/yaml/v4"

	"github.com/skills-mcp/skills-mcp/internal/lazyregexp"
)

// surrogates is a character above U+FFFF as JSON escapes it: by the two halves of
// which UTF-16 has it. YAML 1.2 means every text of JSON to be one of YAML, and
// readers in JavaScript and Python take them; the parser does not.
var surrogates = lazyregexp.New(`^\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})`)

const (
	surrogatesLength = len(`\ud83d\ude00`)
	joinedLength     = len(`\U0001f600`)
)

// joined is where a pair of surrogates was written as one escape: the index of
// the line, from 0, and the column of the escape, from 1, in characters.
type joined struct{ line, column int }

// joinSurrogates writes each pair of surrogates as one escape, from a mark at
// which the parser stopped to the end of the text in double quotes that it is in.
// There is none where it stopped for something else.
func joinSurrogates(lines []string, at yaml.Mark) (found []joined) {
	line, column := at.Line-1, at.Column-len(`\u`) // the mark is behind that
	if line < 0 || line >= len(lines) || column < 1 {
		return nil
	}
	for from, ended := offsetOf(lines[line], column), false; line < len(lines) && !ended; line, from = line+1, 0 {
		text := []byte(lines[line][:from])
		for rest := lines[line][from:]; rest != ""; {
			pair := surrogates().FindStringSubmatch(rest)
			took := 1
			switch {
			case pair != nil:
				found = append(found, joined{line, len([]rune(string(text))) + 1})
				text = fmt.Appendf(text, `\U%08x`, utf16.DecodeRune(half(pair[1]), half(pair[2])))
				rest = rest[surrogatesLength:]
				continue
			case len(found) == 0:
				return nil
			case ended || rest[0] == '"':
				ended, took = true, len(rest)
			case rest[0] == '\\' && len(rest) > 1:
				took = 2
			}
			text, rest = append(text, rest[:took]...), rest[took:]
		}
		if len(found) == 0 {
			return nil
		}
		lines[line] = string(text)
	}
	return found
}

func half(hex string) rune {
	value, _ := strconv.ParseUint(hex, 16, 16) // as the pattern has it
	return rune(value)
}

// offsetOf returns the byte at which a column of a line is, from 1, in characters.
func offsetOf(line string, column int) int {
	for offset := range line {
		if column--; column == 0 {
			return offset
		}
	}
	return len(line)
}

// columnBefore returns the column that one had before pairs were joined.
func columnBefore(all []joined, line, column int) int {
	were := column
	for _, each := range all {
		if each.line == line-1 && each.column < column {
			were += surrogatesLength - joinedLength
		}
	}
	return were
}

// restoreColumns has nodes say where they stood before pairs were joined.
func restoreColumns(all []joined, node *yaml.Node) {
	if len(all) == 0 || node == nil {
		return
	}
	node.Column = columnBefore(all, node.Line, node.Column)
	for _, child := range node.Content {
		restoreColumns(all, child)
	}
}
