package policy

import (
	"cmp"
	"strings"
)

// scanner splits one element of a declaration into entries.
type scanner struct {
	rest string // not yet scanned

	text       string // the entry that next found, as declared
	name       string
	pattern    string
	hasPattern bool
	fault      string
}

const separators = " \t\r\n,"

// blank reports whether r looks like nothing.
func blank(r rune) bool { return r == ' ' || hidden(r) }

// next finds the next entry; false means that there is none. A parenthesis
// that is never closed takes the rest of the element with it: what the author
// put inside it must not become an entry of its own.
func (s *scanner) next() bool {
	start := strings.TrimLeft(s.rest, separators)
	if start == "" {
		return false
	}
	end := strings.IndexAny(start, separators+"()")
	if end < 0 {
		end = len(start)
	}
	*s = scanner{name: start[:end]}
	// `Bash (git:*)` must not be read as a bare Bash.
	gap := len(start[end:]) - len(strings.TrimLeftFunc(start[end:], blank))
	if strings.HasPrefix(start[end+gap:], "(") {
		end = s.scanPattern(start, end, gap)
	}
	// Whatever follows without a separator belongs to the entry and spoils it.
	if tail := scanTail(start, end); tail > end {
		s.fault = cmp.Or(s.fault, "a parenthesis or text where a space or comma should be")
		end = tail
	}
	s.text, s.rest = start[:end], start[end:]
	if s.name == "" {
		s.fault = cmp.Or(s.fault, "no name before the parenthesis")
	}
	return true
}

// scanPattern reads the parenthesis that begins gap bytes after end and returns
// where it ends.
func (s *scanner) scanPattern(start string, end, gap int) int {
	if gap > 0 {
		s.fault = "a space before the parenthesis"
	}
	open := end + gap
	length := parenthesis(start[open:])
	if length < 0 {
		s.fault = "an unbalanced parenthesis or quote"
		return len(start)
	}
	s.hasPattern = true
	s.pattern = start[open+1 : open+length-1]
	return open + length
}

// scanTail returns where the text that begins at end and is not separated from
// it ends.
func scanTail(start string, end int) int {
	for end < len(start) && !strings.ContainsRune(separators, rune(start[end])) {
		length := 1
		if start[end] == '(' {
			if length = parenthesis(start[end:]); length < 0 {
				return len(start)
			}
		}
		end += length
	}
	return end
}

// parenthesis returns the length of the balanced parenthesis that text begins
// with, or -1. Quotes and backslashes hide parentheses.
func parenthesis(text string) int {
	depth := 0
	var quoted byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted == '\'':
			if c == '\'' {
				quoted = 0
			}
		case c == '\\':
			i++
		case quoted == '"':
			if c == '"' {
				quoted = 0
			}
		case c == '\'' || c == '"':
			quoted = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// entry compiles what next found.
func (s *scanner) entry() (e *entry, fault string) {
	if fault = cmp.Or(textFault(s.text), s.fault); fault != "" {
		return nil, fault
	}
	return newEntry(s.text, s.name, s.pattern, s.hasPattern)
}
