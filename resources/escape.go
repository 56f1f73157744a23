package resources

import (
	"errors"
	"strings"
)

const upperHex = "0123456789ABCDEF"

// encode writes s with every byte percent-encoded that keep does not keep.
func encode(b *strings.Builder, s string, keep func(byte) bool) {
	for i := range len(s) {
		if c := s[i]; keep(c) || c == '/' {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&0xF])
		}
	}
}

// isRegName tells a character of RFC 3986's reg-name (section 3.2.2), which
// the first segment of a skill path is to a URI parser.
func isRegName(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte("-._~!$&'()*+,;=", c) >= 0
}

// isPathChar tells a character of RFC 3986's pchar (section 3.3).
func isPathChar(c byte) bool { return isRegName(c) || c == ':' || c == '@' }

// decodeURI gives what stands behind the scheme, decoded, without trailing
// slash. Its segments are neither empty nor dots and hold no slash, backslash
// or NUL of their own.
func decodeURI(uri string) (string, error) {
	rest, err := splitURI(uri)
	if err != nil {
		return "", err
	}
	if authority, _, _ := strings.Cut(rest, "/"); strings.ContainsAny(authority, "@:[]") {
		return "", refuse(Invalid, uri, "holds user information, a port or an address where a skill's name is wanted")
	}
	var b strings.Builder
	b.Grow(len(rest))
	for segment := range strings.SplitSeq(strings.TrimSuffix(rest, "/"), "/") {
		decoded, err := decodeSegment(uri, segment)
		if err != nil {
			return "", err
		}
		if b.Len() > 0 {
			b.WriteByte('/')
		}
		b.WriteString(decoded)
	}
	return b.String(), nil
}

// splitURI checks the whole and gives what stands behind the scheme.
func splitURI(uri string) (string, error) {
	switch {
	case len(uri) > maxURIBytes:
		return "", refuse(Invalid, uri, "is longer than %d bytes", maxURIBytes)
	case len(uri) < len(scheme) || !strings.EqualFold(uri[:len(scheme)], scheme):
		e := refuse(Invalid, uri, "is no skill:// URI")
		e.Hint = "Give a URI such as skill://pdf-processing/SKILL.md."
		return "", e
	}
	rest := uri[len(scheme):]
	for i := range len(rest) {
		switch c := rest[i]; {
		case c == '?' || c == '#':
			return "", refuse(Invalid, uri, "holds a query or a fragment; in a file name write ? as %%3F and # as %%23")
		case c < ' ' || c == 0x7F:
			return "", refuse(Invalid, uri, "holds a control character that is not percent-encoded")
		case c == '\\':
			return "", refuse(Invalid, uri, "holds a backslash")
		}
	}
	return rest, nil
}

func decodeSegment(uri, segment string) (string, error) {
	decoded, ok := unescape(segment)
	switch {
	case !ok:
		return "", refuse(Invalid, uri, "holds a %% that begins no percent-encoding; in a file name write it as %%25")
	case decoded == "":
		return "", refuse(Invalid, uri, "holds an empty segment")
	case decoded == "..":
		return "", refuse(Traversal, uri, "holds a \"..\" segment")
	case decoded == ".":
		return "", refuse(Invalid, uri, "holds a \".\" segment")
	case strings.ContainsAny(decoded, "/\\\x00"):
		return "", refuse(Invalid, uri, "holds an encoded slash, backslash or NUL")
	}
	return decoded, nil
}

// unescape decodes percent-encodings. ok is false at a % that begins none.
func unescape(s string) (decoded string, ok bool) {
	if strings.IndexByte(s, '%') < 0 {
		return s, true
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		high, low := hexValue(s[i+1]), hexValue(s[i+2])
		if high < 0 || low < 0 {
			return "", false
		}
		b = append(b, byte(high<<4|low))
		i += 2
	}
	return string(b), true
}

func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// inURI says of a refused file that it came in a URI.
func inURI(uri string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	return &Error{Rule: e.Rule, Path: uri, Message: quote(uri) + ": " + e.Message, Hint: e.Hint, Err: e.Err}
}
