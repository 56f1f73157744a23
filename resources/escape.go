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
	segments := strings.Split(strings.TrimSuffix(rest, "/"), "/")
	for i, segment := range segments {
		if segments[i], err = decodeSegment(uri, segment); err != nil {
			return "", err
		}
	}
	return strings.Join(segments, "/"), nil
}

// splitURI checks the whole and returns what stands behind the scheme.
func splitURI(uri string) (string, error) {
	if len(uri) > maxURIBytes {
		return "", contained.Refuse(contained.Invalid, uri, "is longer than %d bytes", maxURIBytes)
	}
	if len(uri) < len(scheme) || !strings.EqualFold(uri[:len(scheme)], scheme) {
		e := contained.Refuse(contained.Invalid, uri, "is no skill:// URI")
		e.Hint = "Give a URI such as skill://pdf-processing/SKILL.md."
		return "", e
	}
	rest := uri[len(scheme):]
	authority, _, _ := strings.Cut(rest, "/")
	wrong := ""
	switch {
	case strings.ContainsAny(rest, "?#"):
		wrong = "holds a query or a fragment; in a file name write ? as %3F and # as %23"
	case strings.ContainsFunc(rest, func(r rune) bool { return r < ' ' || r == 0x7F }):
		wrong = "holds a control character that is not percent-encoded"
	case strings.Contains(rest, `\`):
		wrong = "holds a backslash"
	case strings.ContainsAny(authority, "@:[]"):
		wrong = "holds user information, a port or an address where a skill's name is wanted"
	default:
		return rest, nil
	}
	return "", contained.Refuse(contained.Invalid, uri, "%s", wrong)
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
