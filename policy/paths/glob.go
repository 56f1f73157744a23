package paths

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds of a pattern. Alternatives take time that grows with their product, for
// each file of a project, and a project's own file may name patterns.
const (
	maxPatternBytes = 1024
	maxBraces       = 2
	maxAlternatives = 32
)

// glob is a pattern of a configuration.
type glob string

// newGlob reads a pattern.
func newGlob(text string, folding bool) (glob, error) {
	pattern := text
	anchored := false
	for _, anchor := range []string{"./", "/"} {
		if rest, ok := strings.CutPrefix(pattern, anchor); ok {
			pattern, anchored = rest, true
			break
		}
	}
	if rest, ok := strings.CutSuffix(pattern, "/"); ok {
		pattern = rest + "/**"
	} else if !strings.Contains(pattern, "/") && !anchored {
		pattern = "**/" + pattern
	}
	if folding {
		pattern = fold(pattern)
	}
	for segment := range strings.SplitSeq(pattern, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return "", fmt.Errorf("%q is no pattern: it has an empty, . or .. segment", text)
		}
	}
	if strings.HasPrefix(text, "!") || strings.HasPrefix(text, "~") {
		return "", fmt.Errorf("%q is no pattern: there is no ! and no ~, write a path in the project", text)
	}
	if len(text) > maxPatternBytes || strings.Count(text, "{") > maxBraces || strings.Count(text, ",") > maxAlternatives {
		return "", fmt.Errorf("%.100q is too much for one pattern: at most %d bytes, %d braces and %d commas; write several",
			text, maxPatternBytes, maxBraces, maxAlternatives)
	}
	if !doublestar.ValidatePattern(pattern) {
		return "", fmt.Errorf("%q is no pattern: a bracket, a brace or a backslash is left open", text)
	}
	return glob(pattern), nil
}

// matchExact reports whether the pattern is a clean path's.
func (g glob) matchExact(path string) bool {
	matched, err := doublestar.Match(string(g), path)
	return err == nil && matched
}

// anyMatch reports whether a pattern is that of a path, or of a directory above
// it.
func anyMatch(globs []glob, n name) bool {
	if len(globs) == 0 {
		return false
	}
	for _, form := range []func(segment) string{
		func(s segment) string { return s[0] },
		func(s segment) string { return s[len(s)-1] },
	} {
		path := ""
		for i, s := range n {
			if i > 0 {
				path += "/"
			}
			path += form(s)
			if slices.ContainsFunc(globs, func(g glob) bool { return g.matchExact(path) }) {
				return true
			}
		}
	}
	return false
}
