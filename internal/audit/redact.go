package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of an input, in bytes but for the counts.
const (
	maxInputBytes   = 4 << 10 // of all of it, encoded
	maxValueBytes   = 256     // of a text that is recorded whole
	shownHeadBytes  = 128     // of a longer one
	scannedBytes    = 1 << 10 // of a text, in which what looks like a secret is looked for
	minDigestBytes  = 64      // a shorter text could be guessed by its digest
	maxInputEntries = 32      // of an object or array
	maxInputDepth   = 4
)

// redacted stands in the place of a secret.
const redacted = "[redacted]"

// Digest stands in an input in the place of a text that is too long, or is
// the content of a file.
type Digest struct {
	// Head is the beginning of the text; empty for the content of a file.
	Head string `json:"head,omitempty"`
	// Bytes is its length.
	Bytes int `json:"bytes"`
	// SHA256 are the first 16 hexadecimal digits of its hash; empty where it
	// could be guessed by them: for a short text, and one with a secret.
	SHA256 string `json:"sha256,omitempty"`
}

// shape is what something looks like: a pattern, and words in lower case of which
// each text has one in which the pattern finds something. To look for words is much
// cheaper.
type shape struct {
	pattern *regexp.Regexp
	words   []string
}

// in reports whether a text has the shape.
func (s shape) in(text string) bool {
	return s.possible(strings.ToLower(text), isASCII(text)) && s.pattern.MatchString(text)
}

// possible reports whether a text may have the shape, of which lower is in lower
// case. Patterns know letters outside of ASCII as well that are others in another
// case.
func (s shape) possible(lower string, ascii bool) bool {
	return !ascii || slices.ContainsFunc(s.words, func(word string) bool { return strings.Contains(lower, word) })
}

var (
	// secretKey finds keys whose values are secrets.
	secretKey = shape{regexp.MustCompile(`(?i)token|passw|passphrase|secret|api[_-]?key|private[_-]?key|access[_-]?key|credential|authorization|cookie|bearer|signature|[_-]key$|^(key|auth|pwd|pin)$`),
		[]string{"token", "passw", "passphrase", "secret", "key", "credential", "auth", "cookie", "bearer", "signature", "pwd", "pin"}}
	// environmentKey finds keys whose values are environments.
	environmentKey = shape{regexp.MustCompile(`(?i)^env(s|iron(ment)?)?$`), []string{"env"}}
	// contentKeys are those of the content of files and streams.
	contentKeys = []string{"stdin", "file_text", "old_str", "new_str", "content", "contents", "data", "body"}
	// secretFlag finds an argument after which a secret follows.
	secretFlag = shape{regexp.MustCompile(`(?i)^--?[\w-]*(token|passw|passphrase|secret|api-?key|private-?key|access-?key|credential)[\w-]*$`), secretWords}
	// handle finds whole handles of workspaces, whose knowledge lets in.
	handle = shape{regexp.MustCompile(`\b(ws-[0-9a-f]{8})[0-9a-f]{24}\b`), []string{"ws-"}}
)

// secretTexts are what secrets look like in a text, with what is written
// instead.
var secretTexts = []struct {
	shape
	instead string
}{
	{shape{regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)`), []string{"-----begin"}}, redacted},
	{shape{regexp.MustCompile(`(?i)\b(authorization|x-api-key|cookie)(["']?\s*[:=]\s*["']?)[^"'\r\n]+`), []string{"authorization", "x-api-key", "cookie"}}, "${1}${2}" + redacted},
	{shape{regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*://)[^\s/@"']+@`), []string{"@"}}, "${1}" + redacted + "@"},
	{shape{regexp.MustCompile(`(?i)([\w-]*(?:token|passw(?:or)?d|passphrase|secret|api[_-]?key|private[_-]?key|access[_-]?key|credentials?)[\w-]*["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s"'&;|]+)`), secretWords}, "${1}" + redacted},
	{shape{regexp.MustCompile(`(?i)(^|\s)(--?[\w-]*(?:token|passw(?:or)?d|passphrase|secret|api-?key|private-?key|access-?key|credentials?)[\w-]*\s+)("[^"]*"|'[^']*'|[^\s"'&;|]+)`), secretWords}, "${1}${2}" + redacted},
	{shape{regexp.MustCompile(`(?i)\b(bearer\s+)[\w.~+/=-]{8,}`), []string{"bearer"}}, "${1}" + redacted},
	{shape{regexp.MustCompile(`\b(?:gh[pousr]_\w{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk-[\w-]{16,}|xox[a-z]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)`),
		[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-", "xox", "akia", "aiza", "eyj"}}, redacted},
}

var secretWords = []string{"token", "passw", "passphrase", "secret", "key", "credential"}

func shortHandles(text string) string {
	if !handle.in(text) {
		return text
	}
	return handle.pattern.ReplaceAllString(text, "$1…")
}

// Redact returns what a record keeps of an input, which is JSON of a client: an
// object of at most 4 KiB. Values of keys such as "token" and of environments are
// replaced, and so is what looks like a secret in any other text; of long texts
// are left the beginning, the length and a digest, of the content of files not
// even the beginning. known is called with each text, and takes out of it the
// secrets that it knows; it may be nil.
func Redact(input json.RawMessage, known func(string) string) json.RawMessage {
	if known == nil {
		known = func(text string) string { return text }
	}
	if harmless(input, known) {
		return input
	}
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(input))
	decoder.UseNumber()
	if decoder.Decode(&object) == nil && object != nil {
		for entries := maxInputEntries; entries > 0; entries /= 2 {
			encoded, err := marshal(redaction{known, entries}.object("", object, 0))
			if err == nil && len(encoded) <= maxInputBytes {
				return bytes.TrimSpace(encoded)
			}
		}
	}
	encoded, _ := marshal(map[string]Digest{"input": {Bytes: len(input)}}) // of numbers
	return bytes.TrimSpace(encoded)
}

// harmless reports whether all of an input is kept as it is: a short object of
// names, texts and numbers, in which no word is one by which something is left out.
func harmless(input json.RawMessage, known func(string) string) bool {
	text := string(input)
	if len(text) > maxValueBytes || !strings.HasPrefix(text, "{") || strings.Count(text, "{") > 1 || strings.ContainsAny(text, `[\`) ||
		strings.Count(text, ",") >= maxInputEntries || !isASCII(text) {
		return false
	}
	lower := strings.ToLower(text)
	if secretKey.possible(lower, true) || environmentKey.possible(lower, true) || handle.possible(lower, true) ||
		slices.ContainsFunc(contentKeys, func(key string) bool { return strings.Contains(lower, key) }) {
		return false
	}
	for _, secret := range secretTexts {
		if secret.possible(lower, true) {
			return false
		}
	}
	return json.Valid(input) && known(text) == text
}

// redaction takes secrets out of values.
type redaction struct {
	known   func(string) string
	entries int // that are kept of an object or array within the input
}

// value returns what is left of a value that has that key.
func (d redaction) value(key string, value any, depth int) any {
	switch value := value.(type) {
	case string:
		return d.text(key, value)
	case map[string]any:
		if depth == maxInputDepth {
			return map[string]int{"entries": len(value)}
		}
		return d.object(key, value, depth)
	case []any:
		if depth == maxInputDepth {
			return map[string]int{"entries": len(value)}
		}
		return d.array(key, value, depth)
	case json.Number:
		if secretKey.in(key) || len(value) > maxValueBytes {
			return redacted
		}
	}
	return value // true, false, null, and numbers
}

func (d redaction) object(key string, object map[string]any, depth int) any {
	kept, omitted, limit := map[string]any{}, 0, d.entries
	if depth == 0 {
		limit = maxInputEntries
	}
	for i, name := range slices.Sorted(maps.Keys(object)) {
		if i >= limit {
			omitted++
			continue
		}
		inside := name
		if secretKey.in(key) {
			inside = key // what is in a secret is one
		}
		if environmentKey.in(key) {
			kept[d.name(name)] = redacted
		} else {
			kept[d.name(name)] = d.value(inside, object[name], depth+1)
		}
	}
	if omitted > 0 {
		kept["…"] = omitted
	}
	return kept
}

func (d redaction) array(key string, array []any, depth int) any {
	kept := make([]any, 0, min(len(array), d.entries+1))
	for i, element := range array {
		if i == d.entries {
			return append(kept, fmt.Sprintf("… %d more", len(array)-i))
		}
		before := ""
		if i > 0 {
			before, _ = array[i-1].(string)
		}
		if secretFlag.in(before) {
			element = redacted
		}
		kept = append(kept, d.value(key, element, depth+1))
	}
	return kept
}

// name returns what is left of a key.
func (d redaction) name(name string) string {
	return shorten(cleanOfShapes(d.known(name)), maxNameBytes)
}

// text returns what is left of a text that has that key.
func (d redaction) text(key, text string) any {
	switch {
	case secretKey.in(key):
		return redacted
	case environmentKey.in(key):
		name, _, _ := strings.Cut(text, "=")
		return shorten(name, maxNameBytes) + "=" + redacted
	case slices.Contains(contentKeys, key):
		return digested(text)
	}
	known := d.known(text) // before the text is cut, since the beginning of a secret is not found
	clean := cleanOfShapes(known)
	if len(text) <= maxValueBytes {
		return shorten(clean, maxValueBytes)
	}
	digest := Digest{Bytes: len(text)}
	if known == text && strings.HasPrefix(text, clean) { // else what is left out could be guessed by the digest
		digest = digested(text)
	}
	digest.Head = shorten(clean, shownHeadBytes)
	return digest
}

// cleanOfShapes returns the beginning of a text without what looks like a secret.
func cleanOfShapes(text string) string {
	text = text[:min(len(text), scannedBytes)]
	lower, ascii := strings.ToLower(text), isASCII(text)
	for _, secret := range secretTexts {
		if secret.possible(lower, ascii) {
			text = secret.pattern.ReplaceAllString(text, secret.instead)
		}
	}
	return shortHandles(text)
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c >= utf8.RuneSelf })
}

func digested(text string) Digest {
	digest := Digest{Bytes: len(text)}
	if len(text) >= minDigestBytes {
		digest.SHA256 = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:16]
	}
	return digest
}
