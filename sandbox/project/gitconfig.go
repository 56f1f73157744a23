package project

import (
	"regexp"
	"slices"
	"strings"
)

// maxConfigBytes is how long a git configuration may be to be read.
const maxConfigBytes = 1 << 20

// setting is one variable of a git configuration, a section's header, or a line
// of comment, which is empty but for its text.
type setting struct {
	section    string // in small letters
	subsection string
	key        string // in small letters; empty for a header
	value      string
	blank, raw string // as it stands in the file, to the end of its line, and what is before it
	commented  bool   // a comment is in raw
}

// parseConfig reads a git configuration as git does. What follows the first fault
// is left out, since git does not read such a file.
func parseConfig(text string) (settings []setting) {
	r := configReader{rest: strings.TrimPrefix(text, "\ufeff")}
	var in setting
	for {
		before := r.rest
		r.space()
		start := r.rest
		in.blank, r.commented = before[:len(before)-len(start)], false
		switch {
		case start == "":
			return settings
		case start[0] == '#' || start[0] == ';':
			r.line()
			settings = append(settings, setting{blank: in.blank, raw: start[:len(start)-len(r.rest)]})
		case start[0] == '[':
			header, ok := r.header()
			if !ok {
				return settings
			}
			header.blank = in.blank
			in = header
			in.raw = start[:len(start)-len(r.rest)]
			settings = append(settings, in)
		default:
			s := in
			var ok bool
			if s.key, s.value, ok = r.variable(); !ok || in.section == "" {
				return settings
			}
			s.raw, s.commented = start[:len(start)-len(r.rest)], r.commented
			settings = append(settings, s)
		}
	}
}

// configReader reads the grammar of git's configuration.
type configReader struct {
	rest      string
	commented bool // a comment was read in a value
}

func (r *configReader) space() { r.rest = strings.TrimLeft(r.rest, " \t\r\n\v\f") }

func (r *configReader) line() { _, r.rest, _ = strings.Cut(r.rest, "\n") }

// take takes the leading bytes that a name may have.
func (r *configReader) take(more string) string {
	end := strings.IndexFunc(r.rest, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || strings.ContainsRune(more, c))
	})
	if end < 0 {
		end = len(r.rest)
	}
	taken := r.rest[:end]
	r.rest = r.rest[end:]
	return strings.ToLower(taken)
}

// header reads [section], [section.sub] or [section "sub"].
func (r *configReader) header() (header setting, ok bool) {
	r.rest = r.rest[1:]
	name := r.take(".")
	header.section, header.subsection, _ = strings.Cut(name, ".")
	if blanks := strings.TrimLeft(r.rest, " \t"); blanks != r.rest {
		if !strings.HasPrefix(blanks, `"`) {
			return header, false
		}
		r.rest = blanks[1:]
		if header.section, header.subsection, ok = r.quoted(name); !ok {
			return header, false
		}
	}
	if !strings.HasPrefix(r.rest, "]") || header.section == "" {
		return header, false
	}
	r.rest = r.rest[1:]
	return header, true
}

// quoted reads a subsection to its closing quote.
func (r *configReader) quoted(name string) (section, subsection string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(r.rest); i++ {
		switch c := r.rest[i]; c {
		case '"':
			r.rest = r.rest[i+1:]
			return name, b.String(), true
		case '\n':
			return "", "", false
		case '\\':
			if i++; i == len(r.rest) || r.rest[i] == '\n' {
				return "", "", false
			}
			b.WriteByte(r.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// variable reads key = value, or a key alone, with the end of its line.
func (r *configReader) variable() (key, value string, ok bool) {
	if key = r.take(""); key == "" || key[0] < 'a' || key[0] > 'z' {
		return "", "", false
	}
	r.rest = strings.TrimLeft(r.rest, " \t")
	switch {
	case r.rest == "":
		return key, "", true
	case r.rest[0] == '\n' || strings.HasPrefix(r.rest, "\r\n"):
		r.line()
		return key, "", true
	case r.rest[0] != '=':
		return "", "", false
	}
	r.rest = r.rest[1:]
	value, ok = r.value()
	return key, value, ok
}

// value reads to the end of the line, or of those that continue it.
func (r *configReader) value() (value string, ok bool) {
	r.rest = strings.TrimLeft(r.rest, " \t")
	var b strings.Builder
	quoted, end := false, 0 // end is where blanks begin that are not quoted
	for i := 0; i < len(r.rest); i++ {
		c := r.rest[i]
		switch {
		case c == '\n' && quoted:
			return "", false
		case c == '\n':
			r.rest = r.rest[i+1:]
			return b.String()[:end], true
		case r.commented:
			continue
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '#' || c == ';'):
			r.commented = true
		case !quoted && (c == ' ' || c == '\t' || c == '\r'):
			b.WriteByte(c)
			continue
		case c == '\\':
			i++
			if strings.HasPrefix(r.rest[min(i, len(r.rest)):], "\r\n") {
				i++
			}
			if i >= len(r.rest) || !escaped(&b, r.rest[i]) {
				return "", false
			}
		default:
			b.WriteByte(c)
		}
		if !r.commented {
			end = b.Len()
		}
	}
	r.rest = ""
	return b.String()[:end], !quoted
}

// escaped writes what a backslash and a character stand for.
func escaped(b *strings.Builder, c byte) bool {
	switch c {
	case '\n': // the line goes on
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'b':
		b.WriteByte('\b')
	case '"', '\\':
		b.WriteByte(c)
	default:
		return false
	}
	return true
}

// withoutCredentials returns a git configuration without what authenticates
// somebody: the credential section, headers of http requests, users and
// passwords in URLs, and variables that are named like secrets. Comments go with
// them, since people comment such lines out, and so does what git could not read.
// All else stays as it is.
func withoutCredentials(text string) string {
	var b strings.Builder
	blank := "" // before what is not shown, and so before what is shown next
	for _, s := range parseConfig(text) {
		if blank == "" {
			blank = s.blank
		}
		if line := s.shown(); line != "" {
			b.WriteString(blank + line)
			blank = ""
		}
	}
	shown := b.String()
	if strings.TrimSpace(strings.TrimPrefix(text, shown)) == "" {
		return text
	}
	return shown
}

// shown returns how a variable or header stands in what programs see.
func (s setting) shown() string {
	switch value, subsection := hideCredentials(s.key, s.value), hideCredentials("", s.subsection); {
	case s.section == "", s.section == "credential", s.key != "" && isSecret(s):
		return ""
	case s.key == "" && subsection != s.subsection:
		return "[" + s.section + ` "` + quote(subsection) + `"]`
	case s.key != "" && (value != s.value || s.commented):
		return s.key + ` = "` + quote(value) + "\"\n"
	}
	return s.raw
}

// secretWords are in the names of variables that hold secrets.
var secretWords = []string{"pass", "token", "secret", "extraheader", "apikey", "api-key", "privatekey", "authorization", "oauth", "cookie"}

// isSecret reports whether a variable is one that holds a secret.
func isSecret(s setting) bool {
	if s.section == "core" && (s.key == "sshcommand" || s.key == "gitproxy") {
		return true
	}
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(s.key, word) })
}

var (
	urlUser  = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*)://([^/\s]*)@`)
	urlQuery = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s?]*)\?[^\s]*`)
)

// hideCredentials takes users and passwords out of the URLs in a value. The user
// of ssh stays, who is no secret and mostly git.
func hideCredentials(key, value string) string {
	value = urlUser.ReplaceAllStringFunc(value, func(url string) string {
		match := urlUser.FindStringSubmatch(url)
		scheme, user := match[1], match[2]
		name, _, _ := strings.Cut(user, ":")
		if strings.Contains(strings.ToLower(scheme), "ssh") && !strings.Contains(name, "@") {
			return scheme + "://" + name + "@"
		}
		return scheme + "://"
	})
	value = urlQuery.ReplaceAllString(value, "$1")
	if strings.HasSuffix(key, "proxy") && !strings.Contains(value, "://") {
		value = value[strings.LastIndexByte(value, '@')+1:]
	}
	return value
}

func quote(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(text)
}
