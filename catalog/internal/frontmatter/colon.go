package frontmatter

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/skills-mcp/skills-mcp/internal/lazyregexp"
	"github.com/skills-mcp/skills-mcp/internal/yamldoc"
)

// maxQuoted bounds the values of one frontmatter that are rewritten: each costs
// a reading of what stands before it.
const maxQuoted = 32

var (
	// plainValue is a line "key: value", maybe in a list, whose value is
	// plain: it begins with no YAML indicator.
	plainValue = lazyregexp.New("^((?: *- +)* *)([A-Za-z0-9_.-]+:[ \t]+)([^-?:,\\[\\]{}#&*!|>'\"%@` \t\r][^\r]*|[-?:][^ \t\r][^\r]*)\r?$")
	// keyLine is a line that may as well be a key with the wrong indentation
	// as the continuation of a value.
	keyLine = lazyregexp.New(`^ *[A-Za-z0-9_.-]+:(?:[ \t\r]|$)`)
)

// parseForgiving parses YAML in which plain values may hold ": ", or end in a
// colon: "description: Use when: asked" is the commonest fault in skills. A
// value on which the parser stops is put into quotes. quoted are the indexes,
// from 0, of the lines on which such values begin. Pairs of surrogates are read
// too, as [joinSurrogates] says.
func parseForgiving(source []byte) (root *yaml.Node, quoted []int, err error) {
	root, err = yamldoc.Parse(source)
	lines := strings.Split(string(source), "\n")
	var pairs []joined
	fault := (*yaml.LoadError)(nil)
	for range maxQuoted {
		if !errors.As(err, &fault) {
			break
		}
		if found := joinSurrogates(lines, fault.Mark); found != nil {
			pairs = append(pairs, found...)
		} else if i, ok := quoteValue(lines, fault.Mark.Line-1); ok {
			quoted = append(quoted, i)
		} else {
			fault.Mark.Column = columnBefore(pairs, fault.Mark.Line, fault.Mark.Column)
			break
		}
		root, err = yamldoc.Parse([]byte(strings.Join(lines, "\n")))
	}
	restoreColumns(pairs, root)
	return root, quoted, err
}

// quoteValue puts the plain value that line i is part of into single quotes,
// together with the lines that continue it. It is cut at " #", where a comment
// begins, as it would have been unquoted.
func quoteValue(lines []string, i int) (first int, ok bool) {
	if i < 0 || i >= len(lines) {
		return 0, false
	}
	first = i
	found := plainValue().FindStringSubmatch(lines[first])
	for found == nil && first > 0 {
		first--
		found = plainValue().FindStringSubmatch(lines[first])
	}
	if found == nil {
		return 0, false
	}
	lead, key, value := found[1], found[2], found[3]
	end := continuation(lines, first, len(lead))
	if i >= end || slices.ContainsFunc(lines[first+1:end], mayHoldKey) {
		return 0, false
	}
	value = strings.Join(append([]string{value}, lines[first+1:end]...), "\n")
	if !strings.Contains(value, ":") {
		return 0, false
	}
	value, _, _ = strings.Cut(value, " #")
	value = strings.TrimRight(value, " \t\r\n")
	block := strings.Split(lead+key+"'"+strings.ReplaceAll(value, "'", "''")+"'", "\n")
	clear(lines[first:end]) // the numbers of the lines that follow stay
	copy(lines[first:end], block)
	return first, true
}

// mayHoldKey reports whether a line that continues a value may hold a key that
// its author meant. A carriage return inside of it breaks the line in YAML, and
// what follows that may stand anywhere.
func mayHoldKey(line string) bool {
	return keyLine().MatchString(line) || strings.Contains(strings.TrimSuffix(line, "\r"), "\r")
}

// continuation returns the index after the last line that continues the value
// begun on line i: all that are blank or deeper than its indentation.
func continuation(lines []string, i, depth int) int {
	end := i + 1
	for j := i + 1; j < len(lines); j++ {
		if strings.TrimSpace(lines[j]) == "" {
			continue
		}
		if len(lines[j])-len(strings.TrimLeft(lines[j], " ")) <= depth {
			break
		}
		end = j + 1
	}
	return end
}
