package catalog

import (
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// The parser reads YAML 1.1 in some places where YAML 1.2 differs, and JSON
// tools write what it refuses:
//
//   - it skips a byte-order mark inside of a text;
//   - ? ends a plain scalar in a flow collection, and : may not begin one
//     (section 7.3.3: both may if no space follows);
//   - \/ and pairs of surrogates such as \ud83d\ude00 are not known to it in
//     double quotes (section 5.7);
//   - it ends the name of an anchor at the first character that is no ASCII
//     letter, digit, hyphen or underscore (section 6.9.2).
//
// So each of these is put by a private-use character while the parser is at
// work. That is a plain character everywhere, and the scalar that it ends up
// in tells by its style what it stood for. Names of anchors are put by names
// of letters and digits, which are put back in scalars too.

// stand is what a private-use character stands for.
type stand struct{ quoted, other string } // in double quotes, and elsewhere

// stands is what was put by what.
type stands struct {
	runes map[rune]stand
	// names are by what was put for them, which holds marker.
	names  map[string]string
	marker string
}

func (s stands) empty() bool { return len(s.runes) == 0 && len(s.names) == 0 }

// anchorName is the name of an anchor or an alias. Quotes and backslashes are
// left out, which may end the scalar that this is a part of; so is a last
// colon, which may end a key.
var anchorName = regexp.MustCompile("^[&*]([^ \t\r\n,\\[\\]{}\"'\\\\]*[^ \t\r\n,\\[\\]{}\"'\\\\:])")

var asciiName = regexp.MustCompile(`^[0-9A-Za-z_-]+$`)

var surrogates = regexp.MustCompile(`^\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})`)

// guard replaces what the parser would misread.
func guard(text string) (string, stands) {
	var out strings.Builder
	found := stands{runes: map[rune]stand{}, names: map[string]string{}}
	runes := map[stand]rune{}
	next := '\U000f0000'
	copied := 0
	for i := 0; i < len(text); {
		if name := oddName(text, i); name != "" {
			out.WriteString(text[copied : i+1])
			out.WriteString(found.forName(text, name))
			i += 1 + len(name)
			copied = i
			continue
		}
		length, s := misread(text, i)
		if s.other == "" {
			i += length
			continue
		}
		if _, known := runes[s]; !known {
			for strings.ContainsRune(text, next) {
				next++
			}
			runes[s], found.runes[next] = next, s
			next++
		}
		out.WriteString(text[copied:i])
		out.WriteRune(runes[s])
		i += length
		copied = i
	}
	if found.empty() {
		return text, found
	}
	out.WriteString(text[copied:])
	return out.String(), found
}

// oddName gives the name at i, if an anchor or alias can stand there and the
// parser would misread it.
func oddName(text string, i int) string {
	if text[i] != '&' && text[i] != '*' || !blankOrFlow(before(text, i)) {
		return ""
	}
	name := anchorName.FindStringSubmatch(text[i:])
	if name == nil || asciiName.MatchString(name[1]) {
		return ""
	}
	return name[1]
}

// forName gives what is put for a name.
func (s *stands) forName(text, name string) string {
	if s.marker == "" {
		for s.marker = "Q"; strings.Contains(text, s.marker); s.marker += "Q" {
		}
	}
	put := s.marker + hex.EncodeToString([]byte(name)) + s.marker
	s.names[put] = name
	return put
}

// misread gives the length of what stands at i, and what it stands for if
// the parser would misread it.
func misread(text string, i int) (int, stand) {
	switch text[i] {
	case '\\':
		return misreadEscape(text[i:])
	case '?': // it marks a key only where a value can begin
		if !blankOrFlow(before(text, i)) || !blankOrFlow(after(text, i)) || !follows(text[:i], " \t", "\n[{,-?:") {
			return 1, stand{"?", "?"}
		}
	case ':': // after a quoted key it may stand without a space
		if follows(text[:i], " \t\r\n", "[{,:") && !blankOrFlow(after(text, i)) {
			return 1, stand{":", ":"}
		}
	case 0xef: // the first byte of a byte-order mark, and of others
		c, size := utf8.DecodeRuneInString(text[i:])
		if c == '\ufeff' {
			return size, stand{string(c), string(c)}
		}
		return size, stand{}
	}
	return 1, stand{}
}

// misreadEscape looks at a text that begins with a backslash. In double
// quotes a second backslash belongs to the first.
func misreadEscape(text string) (int, stand) {
	if strings.HasPrefix(text, `\/`) {
		return 2, stand{`/`, `\/`}
	}
	if pair := surrogates.FindStringSubmatch(text); pair != nil {
		high, _ := strconv.ParseUint(pair[1], 16, 16) // the pattern matched
		low, _ := strconv.ParseUint(pair[2], 16, 16)
		return len(pair[0]), stand{string(utf16.DecodeRune(rune(high), rune(low))), pair[0]}
	}
	return min(2, len(text)), stand{}
}

func before(text string, i int) byte {
	if i == 0 {
		return '\n'
	}
	return text[i-1]
}

func after(text string, i int) byte {
	if i+1 == len(text) {
		return '\n'
	}
	return text[i+1]
}

// follows tells whether text ends in one of these bytes, but for blanks, or
// is blank.
func follows(text, blanks, last string) bool {
	text = strings.TrimRight(text, blanks)
	return text == "" || strings.IndexByte(last, text[len(text)-1]) >= 0
}

func blankOrFlow(c byte) bool { return strings.IndexByte(" \t\r\n[]{},", c) >= 0 }

// restore puts back what was replaced, in n and all below it.
func (s stands) restore(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		n.Value = s.text(n.Value, n.Style&yaml.DoubleQuotedStyle != 0)
	}
	for _, child := range n.Content {
		s.restore(child)
	}
}

func (s stands) text(value string, quoted bool) string {
	if s.marker != "" && strings.Contains(value, s.marker) {
		for put, name := range s.names {
			value = strings.ReplaceAll(value, put, name)
		}
	}
	var out strings.Builder
	for _, c := range value {
		switch known, found := s.runes[c]; {
		case !found:
			out.WriteRune(c)
		case quoted:
			out.WriteString(known.quoted)
		default:
			out.WriteString(known.other)
		}
	}
	return out.String()
}
