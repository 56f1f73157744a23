package catalog

import (
	"regexp"
	"slices"
	"strings"
)

// colonValue is a line "key: value", maybe in a list, whose value is plain:
// it begins with no YAML indicator.
var colonValue = regexp.MustCompile("^((?: *- +)* *)([A-Za-z0-9_.-]+:[ \t]+)([^-?:,\\[\\]{}#&*!|>'\"%@` \t\r][^\r]*|[-?:][^ \t\r][^\r]*)\r?$")

// blockHeader is the end of a line that opens a block scalar.
var blockHeader = regexp.MustCompile(`(?:^|[ \t])[|>][-+0-9]*[ \t]*(?:#.*)?\r?$`)

// keyLine is a line that may as well be a key with the wrong indentation as
// the continuation of a value.
var keyLine = regexp.MustCompile(`^ *[A-Za-z0-9_.-]+:(?:[ \t\r]|$)`)

// quoteColons puts plain values that hold ": ", or end in a colon, into
// single quotes, together with the lines that continue them. It gives the
// new text and the indexes, from 0, of the lines changed.
//
// "description: Use when: asked" is the commonest fault in skills. A value
// is cut at " #", where a comment begins, as it would have been unquoted.
func quoteColons(text string) (quoted string, changed []int) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if blockHeader.MatchString(lines[i]) {
			i = continuation(lines, i, indent(lines[i])) - 1
			continue
		}
		found := colonValue.FindStringSubmatch(lines[i])
		if found == nil {
			continue
		}
		lead, key, value := found[1], found[2], found[3]
		end := continuation(lines, i, len(lead))
		value = strings.Join(append([]string{value}, lines[i+1:end]...), "\n")
		if !holdsColon(value) || slices.ContainsFunc(lines[i+1:end], keyLine.MatchString) {
			continue
		}
		if before, _, found := strings.Cut(value, " #"); found {
			value = before
		}
		value = strings.TrimRight(value, " \t\r\n")
		changed = append(changed, i)
		block := strings.Split(lead+key+"'"+strings.ReplaceAll(value, "'", "''")+"'", "\n")
		for len(block) < end-i { // keep the numbers of the lines that follow
			block = append(block, "")
		}
		copy(lines[i:end], block)
		i = end - 1
	}
	return strings.Join(lines, "\n"), changed
}

// continuation gives the index after the last line that continues the value
// begun on line i: all that are blank or deeper than its indentation.
func continuation(lines []string, i, depth int) int {
	end := i + 1
	for j := i + 1; j < len(lines); j++ {
		if strings.TrimSpace(lines[j]) == "" {
			continue
		}
		if indent(lines[j]) <= depth {
			break
		}
		end = j + 1
	}
	return end
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func holdsColon(value string) bool {
	for line := range strings.SplitSeq(value, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if strings.Contains(line, ": ") || strings.Contains(line, ":\t") || strings.HasSuffix(line, ":") {
			return true
		}
	}
	return false
}
