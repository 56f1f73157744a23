package policy

import (
	"path"
	"strings"
)

// pathPattern is the pattern of a reading or writing entry.
type pathPattern struct {
	// segments are one for each of the path; "**" stands for any number, none
	// included.
	segments []string
	// absolute says that they are from the top of the file system: of a file in a
	// directory of the user.
	absolute bool
}

// parsePathPattern reads a pattern; fault is empty where it is usable.
func parsePathPattern(text string) (p pathPattern, fault string) {
	switch {
	case strings.ContainsAny(text, `'"\`):
		return p, "quotes and backslashes mean nothing in a path pattern; ? stands for any one character"
	case strings.HasPrefix(text, "!"):
		return p, "a pattern can only allow; there is no `!`"
	case strings.HasPrefix(text, "~"):
		return p, "a skill does not know the user's home directory; write a relative path, or //home/… from the top"
	}
	p.absolute = strings.HasPrefix(text, "//")
	anchored := false
	for _, anchor := range []string{"//", "./", "/"} {
		if rest, ok := strings.CutPrefix(text, anchor); ok {
			text, anchored = rest, true
			break
		}
	}
	if rest, ok := strings.CutSuffix(text, "/"); ok {
		text = rest + "/**"
	}
	p.segments = strings.Split(text, "/")
	if len(p.segments) == 1 && !anchored {
		p.segments = []string{"**", text}
	}
	for i, segment := range p.segments {
		switch segment {
		case "", ".", "..":
			return p, "an empty, `.` or `..` path segment"
		}
		if segment != "**" {
			p.segments[i] = strings.ReplaceAll(segment, "[", `\[`) // no character classes
		}
	}
	return p, ""
}

// match holds the pattern against the path of a request. A relative one is about
// where the skill works: its own files, the workspace and the project, but no
// other directory of the user.
func (p pathPattern) match(r Request) bool {
	if p.absolute {
		return r.Dir != "" && p.matchPath(strings.TrimPrefix(path.Join(r.Dir, r.Path), "/"))
	}
	return (r.Dir == "" || r.InProject) && p.matchPath(r.Path)
}

// matchPath holds the segments against a clean relative path.
func (p pathPattern) matchPath(name string) bool {
	pattern, segments := p.segments, strings.Split(name, "/")
	if name == "." {
		segments = nil
	}
	i, j := 0, 0
	retrySegment, retry := 0, 0 // after the last **, and the segment it takes next
	for j < len(segments) {
		switch {
		case i < len(pattern) && pattern[i] == "**":
			i++
			retrySegment, retry = i, j
		case i < len(pattern) && matchSegment(pattern[i], segments[j]):
			i, j = i+1, j+1
		case retrySegment > 0:
			retry++
			i, j = retrySegment, retry
		default:
			return false
		}
	}
	for i < len(pattern) && pattern[i] == "**" {
		i++
	}
	return i == len(pattern)
}

func matchSegment(pattern, segment string) bool {
	matched, err := path.Match(pattern, segment)
	return err == nil && matched
}
