package catalog

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxTabs bounds the lines whose tabs are mended: each costs a reading of the
// whole.
const maxTabs = 64

var (
	// blankTabs begins a line that holds nothing but white space or a comment.
	blankTabs = regexp.MustCompile(`^[ \t]*(\r?$|#)`)
	// indicatorTab is a line of a block collection whose value is a scalar.
	indicatorTab = regexp.MustCompile(`^((?: *[-?] +)* *[-?:])([ \t]+)(\S.*)$`)
	// blockTab is a line that opens a block scalar and leaves it to the text
	// how deep that is indented.
	blockTab = regexp.MustCompile(`^((?: *[-?] +)* *)([^ \t#].*)?([|>][-+]?)([ \t]*(?:[ \t]#.*)?\r?)$`)
)

// parseTabs parses text, and again for each line on which the parser stops at
// a tab. It refuses tabs in places where YAML 1.2.2 has white space of either
// kind (section 6.2): in lines of nothing else, before comments, after - and ?
// and :, and at the beginning of a block scalar's text.
func parseTabs(text string) (*yaml.Node, error) {
	root, err := parseYAML(text)
	for range maxTabs {
		mended, found := mendTab(text, err)
		if !found {
			break
		}
		text = mended
		root, err = parseYAML(text)
	}
	return root, err
}

// mendTab puts spaces for the tabs of the line of which they are the fault.
// What is read there stays the same. The error names that line, or the one on
// which the scalar around it begins.
func mendTab(text string, err error) (mended string, found bool) {
	if err == nil || errors.Is(err, errDocuments) || !strings.Contains(text, "\t") {
		return "", false
	}
	matched := yamlErrorLine.FindStringSubmatch(err.Error())
	if matched == nil {
		return "", false
	}
	first := 0 // the parser does not number the first line
	if n, err := strconv.Atoi(matched[1]); err == nil {
		first = n - 1
	}
	lines := strings.Split(text, "\n")
	if first >= len(lines) {
		return "", false
	}
	switch matched[2] {
	case "found character that cannot start any token":
		found = spaceOut(lines, first)
	case "found a tab character that violates indentation":
		for i := first; i < len(lines) && !found; i++ {
			found = strings.Contains(lines[i], "\t") && blankTabs.MatchString(lines[i]) && spaceOut(lines, i)
		}
	case "found a tab character where an indentation space is expected":
		for first > 0 && !blockTab.MatchString(lines[first]) {
			first--
		}
		found = indicateIndentation(lines, first)
	}
	return strings.Join(lines, "\n"), found
}

// spaceOut replaces the tabs that lead line i, or follow the indicators of a
// block collection in it.
func spaceOut(lines []string, i int) bool {
	line := lines[i]
	if at := blankTabs.FindStringSubmatchIndex(line); at != nil {
		lines[i] = strings.ReplaceAll(line[:at[2]], "\t", " ") + line[at[2]:]
	} else if part := indicatorTab.FindStringSubmatch(line); part != nil && !nestsBlock(part[3]) {
		lines[i] = part[1] + strings.ReplaceAll(part[2], "\t", " ") + part[3]
	}
	return lines[i] != line
}

// nestsBlock tells whether a block collection may begin here, which must be
// indented by spaces (section 6.1).
func nestsBlock(text string) bool {
	return strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "? ") || strings.HasPrefix(text, ": ") || holdsColon(text)
}

// indicateIndentation writes into the header of the block scalar on line i
// how deep its text is indented, where that begins with a tab.
func indicateIndentation(lines []string, i int) bool {
	part := blockTab.FindStringSubmatch(lines[i])
	if part == nil {
		return false
	}
	parent := len(part[1])
	if part[2] == "" { // the header stands after the last dash
		parent = strings.LastIndexAny(part[1], "-?")
	}
	for _, line := range lines[i+1:] {
		if strings.TrimRight(line, " \r") == "" {
			continue
		}
		depth := indent(line) - max(parent, 0)
		if depth < 1 || depth > 9 || !strings.HasPrefix(line[indent(line):], "\t") {
			return false
		}
		lines[i] = part[1] + part[2] + part[3] + strconv.Itoa(depth) + part[4]
		return true
	}
	return false
}
