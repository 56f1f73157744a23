package resources

import (
	"net/url"
	"strings"

	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// decodeURI returns what stands behind the scheme, decoded, without trailing
// slash. Its segments are neither empty nor dots and hold no slash, backslash
// or NUL of their own.
func decodeURI(uri string) (string, error) {
	rest, err := splitURI(uri)
	if err != nil {
		return "", err
	}
	if authority, _, _ := strings.Cut(rest, "/"); strings.ContainsAny(authority, "@:[]") {
		return "", contained.Refuse(contained.Invalid, uri, "holds user information, a port or an address where a skill's name is wanted")
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

// splitURI checks the whole and returns what stands behind the scheme.
func splitURI(uri string) (string, error) {
	switch {
	case len(uri) > maxURIBytes:
		return "", contained.Refuse(contained.Invalid, uri, "is longer than %d bytes", maxURIBytes)
	case len(uri) < len(scheme) || !strings.EqualFold(uri[:len(scheme)], scheme):
		e := contained.Refuse(contained.Invalid, uri, "is no skill:// URI")
		e.Hint = "Give a URI such as skill://pdf-processing/SKILL.md."
		return "", e
	}
	rest := uri[len(scheme):]
	for i := range len(rest) {
		switch c := rest[i]; {
		case c == '?' || c == '#':
			return "", contained.Refuse(contained.Invalid, uri, "holds a query or a fragment; in a file name write ? as %%3F and # as %%23")
		case c < ' ' || c == 0x7F:
			return "", contained.Refuse(contained.Invalid, uri, "holds a control character that is not percent-encoded")
		case c == '\\':
			return "", contained.Refuse(contained.Invalid, uri, "holds a backslash")
		}
	}
	return rest, nil
}

func decodeSegment(uri, segment string) (string, error) {
	decoded, err := url.PathUnescape(segment)
	switch {
	case err != nil:
		return "", contained.Refuse(contained.Invalid, uri, "holds a %% that begins no percent-encoding; in a file name write it as %%25")
	case decoded == "":
		return "", contained.Refuse(contained.Invalid, uri, "holds an empty segment")
	case decoded == "..":
		return "", contained.Refuse(contained.Traversal, uri, "holds a \"..\" segment")
	case decoded == ".":
		return "", contained.Refuse(contained.Invalid, uri, "holds a \".\" segment")
	case strings.ContainsAny(decoded, "/\\\x00"):
		return "", contained.Refuse(contained.Invalid, uri, "holds an encoded slash, backslash or NUL")
	}
	return decoded, nil
}
