package paths

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// name is a relative path, a segment each; empty for the directory itself.
type name []segment

// segment is one name of a path in the forms in which it may be taken, folded:
// what falls under a rule in one of them falls under it. The first is the name
// itself.
type segment []string

// anyReading asks for a path in each way in which it can be split.
func anyReading(path string, ask func(name) (string, bool)) (reason string, yes bool) {
	n, ok := parse(path, false)
	if !ok {
		return reasonMalformed, true
	}
	if reason, yes = ask(n); yes || !strings.Contains(path, `\`) {
		return reason, yes
	}
	// It is one name here and several on Windows.
	if n, ok = parse(path, true); !ok {
		return reasonMalformed, true
	}
	return ask(n)
}

// parse splits a path, at backslashes too if asked to.
func parse(path string, backslash bool) (n name, ok bool) {
	if path == "" || path[0] == '/' || strings.IndexByte(path, 0) >= 0 {
		return nil, false
	}
	if backslash {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	n = make(name, 0, 1+strings.Count(path, "/"))
	for part := range strings.SplitSeq(path, "/") {
		switch part {
		case "", ".":
		case "..":
			return nil, false
		default:
			s := forms(part)
			if slices.ContainsFunc(s, nothing) {
				return nil, false
			}
			n = append(n, s)
		}
	}
	return n, true
}

// agrees reports whether two paths may be taken for one another, as far as both
// go.
func (n name) agrees(other name) bool {
	for i := range min(len(n), len(other)) {
		if !slices.ContainsFunc(n[i], other[i].is) {
			return false
		}
	}
	return true
}

// clean reports whether a path is a relative one in its only form.
func clean(name string) bool {
	return name != "" && name != "." && name == path.Clean(name) && name[0] != '/' &&
		name != ".." && !strings.HasPrefix(name, "../") && strings.IndexByte(name, 0) < 0
}

// nothing reports whether a form is no name, but the directory or that above it.
func nothing(form string) bool { return strings.Trim(form, ". ") == "" }

// forms returns the forms of one name.
func forms(text string) segment {
	folded := fold(text)
	s := segment{folded}
	// NTFS has streams behind a colon, Windows drops dots and spaces at the end.
	short := folded
	if colon := strings.IndexByte(short, ':'); colon > 0 {
		short = short[:colon]
	}
	short = strings.TrimRight(short, ". ")
	if short == "git~1" { // as Windows shortens it, and git refuses it
		short = ".git"
	}
	return s.with(short)
}

// with adds a form.
func (s segment) with(form string) segment {
	if slices.Contains(s, form) {
		return s
	}
	return append(s, form)
}

// is reports whether one of the forms is this text.
func (s segment) is(text string) bool { return slices.Contains(s, text) }

// plain reports whether the name has one form only.
func (s segment) plain() bool { return len(s) == 1 }

// fold makes one text of all names that some file system holds for the same.
func fold(text string) string {
	if folded(text) {
		return text
	}
	text = strings.Map(func(r rune) rune {
		if ignorable(r) {
			return -1
		}
		return r
	}, text)
	for range 2 { // folding may make something compatible, and the other way round
		text = cases.Fold().String(norm.NFKC.String(text))
	}
	return text
}

// folded reports whether fold would change nothing, for nearly all names.
func folded(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// ignorable reports whether file systems leave a rune out when they compare.
func ignorable(r rune) bool {
	return r >= 0x80 && unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
