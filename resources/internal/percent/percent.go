// Package percent writes paths as URIs have them.
package percent

import "strings"

// Path returns s with every byte percent-encoded that is no slash and no
// character of RFC 3986's pchar (section 3.3).
func Path(s string) string { return encode(s, ":@") }

// RegName returns s with every byte percent-encoded that is no slash and no
// character of RFC 3986's reg-name (section 3.2.2), which the first segment of
// a skill path is to a URI parser.
func RegName(s string) string { return encode(s, "") }

func encode(s, besides string) string {
	const upperHex = "0123456789ABCDEF"
	var b strings.Builder
	b.Grow(len(s))
	for i := range len(s) {
		if c := s[i]; isRegName(c) || strings.IndexByte(besides, c) >= 0 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&0xF]})
		}
	}
	return b.String()
}

func isRegName(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte("/-._~!$&'()*+,;=", c) >= 0
}
