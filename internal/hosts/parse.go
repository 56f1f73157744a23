package hosts

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

// InvalidError is a text that names no host that can be granted.
type InvalidError struct {
	// Text is what was written, and may hold anything.
	Text string
	// Reason continues a sentence that begins with the text: "is an address: …".
	Reason string
}

// maxShownBytes is how much of a text without sense an error shows.
const maxShownBytes = 100

func (e *InvalidError) Error() string {
	return fmt.Sprintf("host %s %s", strconv.QuoteToASCII(truncate.To(e.Text, maxShownBytes)), e.Reason)
}

// Longest name and label that DNS has, in bytes.
const (
	maxNameBytes  = 253
	maxLabelBytes = 63
)

const isAddress = "is an address: hosts are granted by name"

func parse(text string) (rule Rule, reason string) {
	scheme, rest, reason := cutScheme(text)
	if reason != "" {
		return Rule{}, reason
	}
	rest, reason = cutPath(rest)
	if reason != "" {
		return Rule{}, reason
	}
	name, port, reason := cutPort(rest, scheme)
	if reason != "" {
		return Rule{}, reason
	}
	rule = Rule{scheme: scheme, port: port}
	name, rule.subdomains = strings.CutPrefix(name, "*.")
	if rule.name, reason = toASCII(name); reason != "" {
		return Rule{}, reason
	}
	if rule.subdomains && !strings.Contains(rule.name, ".") {
		return Rule{}, "is for all names of a top-level domain: write a name of at least two parts after \"*.\""
	}
	return rule, ""
}

func cutScheme(text string) (scheme Scheme, rest, reason string) {
	before, after, found := strings.Cut(text, "://")
	switch {
	case !found:
		return HTTPS, text, ""
	case strings.EqualFold(before, "https"):
		return HTTPS, after, ""
	case strings.EqualFold(before, "http"):
		return HTTP, after, ""
	default:
		return "", "", "begins with a scheme other than http:// and https://"
	}
}

// cutPath returns the host and port of a URL, of which only a bare "/" may follow.
func cutPath(text string) (authority, reason string) {
	authority = strings.TrimSuffix(text, "/")
	switch {
	case strings.Contains(authority, "@"):
		return "", "has a user: write the name alone"
	case strings.ContainsAny(authority, "/?#"):
		return "", "has a path: a host is granted with all its paths, write the name alone"
	}
	return authority, ""
}

func cutPort(text string, scheme Scheme) (name string, port uint16, reason string) {
	if strings.HasPrefix(text, "[") || strings.Count(text, ":") > 1 {
		return "", 0, isAddress
	}
	name, digits, found := strings.Cut(text, ":")
	if !found {
		return name, uint16(scheme.DefaultPort()), ""
	}
	number, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || number == 0 || digits[0] == '0' {
		return "", 0, "has a port that is no number from 1 to 65535"
	}
	return name, uint16(number), ""
}

// toASCII returns a name as it goes over the wire.
func toASCII(name string) (ascii, reason string) {
	ascii = strings.ToLower(name)
	for _, c := range []byte(name) {
		if c < 0x80 {
			continue
		}
		var err error
		if ascii, err = idna.Lookup.ToASCII(name); err != nil || !utf8.ValidString(name) {
			return "", "is no name that can be looked up"
		}
		break
	}
	return ascii, nameFault(ascii)
}

// nameFault says what keeps a text from being the name of a host; nothing where
// it is one.
func nameFault(name string) string {
	switch {
	case name == "":
		return "has no name"
	case strings.HasPrefix(name, "[") || strings.Contains(name, ":"):
		return isAddress
	case strings.HasSuffix(name, "."):
		return "ends with a dot"
	case len(name) > maxNameBytes:
		return fmt.Sprintf("is longer than %d bytes", maxNameBytes)
	}
	last := ""
	for last = range strings.SplitSeq(name, ".") {
		if fault := labelFault(last); fault != "" {
			return fault
		}
	}
	if isNumber(last) {
		return isAddress
	}
	return ""
}

func labelFault(label string) string {
	switch {
	case label == "":
		return "has an empty part between its dots"
	case len(label) > maxLabelBytes:
		return fmt.Sprintf("has a part longer than %d bytes", maxLabelBytes)
	case label == "*":
		return "has a \"*\" that is not its first part"
	case label[0] == '-' || label[len(label)-1] == '-':
		return "has a part that begins or ends with \"-\""
	}
	for _, c := range []byte(label) {
		if !isNameByte(c) {
			return "has characters that no name of a host has"
		}
	}
	return ""
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// isNumber reports whether a name's last label makes resolvers read the name as an
// address: 127.1, 2130706433, 0x7f000001.
func isNumber(label string) bool {
	digits := "0123456789"
	if rest, found := strings.CutPrefix(strings.ToLower(label), "0x"); found {
		label, digits = strings.ToLower(rest), "0123456789abcdef"
	}
	return strings.Trim(label, digits) == ""
}
