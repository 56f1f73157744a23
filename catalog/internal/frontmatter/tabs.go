package frontmatter

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// tabs reports the first tab that is neither in quotes, nor in a comment, nor in
// the text of a block scalar: the reference validator refuses it, as YAML 1.2
// wants of some only (section 6.1).
func (e *encoder) tabs(source []byte, root *yaml.Node) {
	if e.report.Mode != problem.Strict || !bytes.ContainsRune(source, '\t') {
		return
	}
	lines := strings.SplitAfter(string(source), "\n")
	blank := func(line, from, to int) {
		text := lines[line]
		lines[line] = text[:from] + strings.Repeat("_", to-from) + text[to:]
	}
	blankTexts(root, lines, blank)
	for i, line := range lines {
		if at := strings.IndexByte(withoutComment(line), '\t'); at >= 0 {
			e.report.Add("yaml-subset", problem.At(e.offset+i+1, len([]rune(line[:at]))+1), "the reference validator does not read a tab here")
			return
		}
	}
}

// blankTexts blanks what scalars hold that are no plain ones.
func blankTexts(n *yaml.Node, lines []string, blank func(line, from, to int)) {
	for _, child := range n.Content {
		blankTexts(child, lines, blank)
	}
	line := n.Line - 1
	switch {
	case n.Kind != yaml.ScalarNode || line < 0 || line >= len(lines):
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		blankBlock(lines, line+1, blank)
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		blankQuoted(lines, line, offsetOf(lines[line], n.Column), blank)
	}
}

// blankBlock blanks a block scalar whose text begins on a line, without its
// indentation.
func blankBlock(lines []string, line int, blank func(line, from, to int)) {
	indent := 0
	for ; line < len(lines); line++ {
		deep := len(lines[line]) - len(strings.TrimLeft(lines[line], " "))
		if strings.TrimSpace(lines[line]) != "" {
			if indent == 0 {
				indent = deep
			}
			if deep < indent || deep == 0 {
				return
			}
		}
		if from := min(indent, len(lines[line])); indent > 0 && deep >= indent {
			blank(line, from, len(lines[line]))
		}
	}
}

// blankQuoted blanks a text from the quote that begins it.
func blankQuoted(lines []string, line, at int, blank func(line, from, to int)) {
	quote := lines[line][at : at+1]
	for from := at + 1; line < len(lines); line, from = line+1, 0 {
		text := lines[line]
		for to := from; to < len(text); to++ {
			switch {
			case text[to] == '\\' && quote == `"`, text[to] == '\'' && quote == "'" && strings.HasPrefix(text[to+1:], "'"):
				to++
			case text[to] == quote[0]:
				blank(line, from, to)
				return
			}
		}
		blank(line, from, len(text))
	}
}

// withoutComment leaves out of a line the comment that ends it.
func withoutComment(line string) string {
	for i := range line {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i]
		}
	}
	return line
}
