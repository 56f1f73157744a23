package catalog

import (
	"regexp"
	"strings"
)

// directive is a line before a document that says something about it: the
// version of YAML, the meaning of tags, or what is reserved.
var directive = regexp.MustCompile(`^%([^ \t\r]+)(?:[ \t]+([0-9]+)\.[0-9]+[ \t]*(#.*)?\r?$|.*)`)

// dropDirectives puts comments for the directives of which YAML 1.2.2, section
// 6.8, says that a document is to be read all the same, and which the parser
// refuses: one version 1.x, and those that are reserved. The parser sees to
// the others.
func dropDirectives(text string) string {
	if !strings.HasPrefix(text, "%") {
		return text
	}
	lines := strings.Split(text, "\n")
	version := false
	for i, line := range lines {
		part := directive.FindStringSubmatch(line)
		switch {
		case documentMarker.MatchString(line):
			return strings.Join(lines, "\n")
		case part == nil && strings.TrimSpace(line) != "" && line[0] != '#':
			return text // a directive needs a marker before the document
		case part == nil, part[1] == "TAG":
		case part[1] != "YAML":
			lines[i] = "#" + line
		case part[2] == "1" && !version:
			lines[i] = "#" + line
			version = true
		}
	}
	return text
}
