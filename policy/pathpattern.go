package policy

import (
	"path"
	"strings"
)

// pathPattern is the pattern of a reading or writing entry, one element per
// path segment; "**" stands for any number of segments, none included.
type pathPattern []string

// parsePathPattern reads a pattern; fault is empty where it is usable.
func parsePathPattern(text string) (p pathPattern, fault string) {
	switch {
	case strings.ContainsAny(text, `'"\`):
		return nil, "quotes and backslashes mean nothing in a path pattern; ? stands for any one character"
	case strings.HasPrefix(text, "!"):
		return nil, "a pattern can only allow; there is no `!`"
	case strings.HasPrefix(text, "//"), strings.HasPrefix(text, "~"):
		return nil, "only paths inside the skill and the workspace can be allowed; write a relative one"
	}
	anchored := false
	for _, anchor := range []string{"./", "/"} {
		if rest, ok := strings.CutPrefix(text, anchor); ok {
			text, anchored = rest, true
			break
		}
	}
	if rest, ok := strings.CutSuffix(text, "/"); ok {
		text = rest + "/**"
	}
	p = strings.Split(text, "/")
	if len(p) == 1 && !anchored {
		p = pathPattern{"**", text}
	}
	for i, segment := range p {
		switch segment {
		case "", ".", "..":
			return nil, "an empty, `.` or `..` path segment"
		}
		if segment != "**" {
			p[i] = strings.ReplaceAll(segment, "[", `\[`) // no character classes
		}
	}
	return p, ""
}

// match holds the pattern against a clean relative path.
func (p pathPattern) match(name string) bool {
	segments := strings.Split(name, "/")
	if name == "." {
		segments = nil
	}
	i, j := 0, 0
	retrySegment, retry := 0, 0 // after the last **, and the segment it takes next
	for j < len(segments) {
		switch {
		case i < len(p) && p[i] == "**":
			i++
			retrySegment, retry = i, j
		case i < len(p) && matchSegment(p[i], segments[j]):
			i, j = i+1, j+1
		case retrySegment > 0:
			retry++
			i, j = retrySegment, retry
		default:
			return false
		}
	}
	for i < len(p) && p[i] == "**" {
		i++
	}
	return i == len(p)
}

func matchSegment(pattern, segment string) bool {
	matched, err := path.Match(pattern, segment)
	return err == nil && matched
}
