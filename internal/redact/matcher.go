package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// maxExpansion is how many characters of a text may stand for one of a value: 12
// are those of \u0041 whose backslash is escaped up to three times in turn, and of
// its escapes in base64.
const maxExpansion = 12

// maxNestedBytes is the length of the longest value that is looked for in base64
// of texts in which it is encoded itself, too.
const maxNestedBytes = 4 << 10

// matcher finds the values of a set. It does not change.
type matcher struct {
	secrets []secret
	literal *automaton // in the text as it is
	plain   *automaton // in the text without escapes
	base64  *automaton
	hex     *automaton
	margin  int // the length of the longest form
	// leads are the symbols of base64 that may hold the first bits of a form.
	leads    [64]bool
	scanners sync.Pool
}

func compile(secrets []secret) *matcher {
	m := &matcher{secrets: secrets}
	var literal, plain, inBase64, hex []pattern
	for i, s := range m.secrets {
		m.margin = max(m.margin, maxExpansion*len(s.value))
		literal = append(literal, pattern{secret: i, symbols: trimmed(s.value)})
		for _, form := range unescaped(s.value) {
			plain = append(plain, pattern{secret: i, symbols: form})
		}
		hex = append(hex, pattern{secret: i, symbols: nibbles(s.value)})
		for _, form := range encodings(s.value) {
			for offset := range 3 {
				p := sextets(form, offset)
				p.secret = i
				inBase64 = append(inBase64, p)
				m.noteLeads(form[0], p.before)
			}
		}
	}
	m.literal, m.plain, m.base64, m.hex = newAutomaton(literal), newAutomaton(plain), newAutomaton(inBase64), newAutomaton(hex)
	m.scanners.New = func() any { return newScanner(m) }
	return m
}

// trimmed returns a value without backslashes at its end: what is left
// of an escape would change what follows.
func trimmed(value string) []byte {
	if short := strings.TrimRight(value, `\`); len(short) >= MinBytes/2 {
		return []byte(short)
	}
	return []byte(value)
}

// unescaped returns what the unescapers make of a value however it is escaped: of
// all of them, or, where each of its characters was, of the last one.
func unescaped(value string) [][]byte {
	forms := []string{value}
	if beyond := surrogates(value); beyond != value {
		forms = append(forms, beyond)
	}
	var all [][]byte
	for _, form := range forms {
		all = append(all, withoutEscapes(form, `\`, "%", "&"), withoutEscapes(form, `\`), withoutEscapes(form))
	}
	slices.SortFunc(all, bytes.Compare)
	all = slices.CompactFunc(all, bytes.Equal)
	return slices.DeleteFunc(all, func(form []byte) bool { return len(form) < MinBytes/2 })
}

// withoutEscapes returns the symbols of a text without its escapes of these kinds.
func withoutEscapes(text string, leads ...string) []byte {
	symbols := appendLiterals(nil, []byte(text), 0)
	for _, lead := range leads {
		stage := unescaper{lead: lead[0]}
		var out []symbol
		for _, s := range symbols {
			out = stage.push(s, out)
		}
		symbols = stage.finish(out)
	}
	plain := make([]byte, 0, len(symbols))
	for _, s := range symbols {
		plain = append(plain, folded(s.value))
	}
	return plain
}

// surrogates writes characters beyond 16 bits as JSON's escapes have them.
func surrogates(value string) string {
	var text []byte
	for _, c := range value {
		if c > 0xffff {
			c -= 0x10000
			text = appendRune(appendRune(text, 0xd800+c>>10), 0xdc00+c&0x3ff)
		} else {
			text = appendRune(text, c)
		}
	}
	return string(text)
}

// folded has a space be as it may be in URLs.
func folded(c byte) byte {
	if c == '+' {
		return ' '
	}
	return c
}

func nibbles(value string) []byte {
	symbols := make([]byte, 0, 2*len(value))
	for i := range len(value) {
		symbols = append(symbols, value[i]>>4, value[i]&15)
	}
	return symbols
}

// encodings returns the texts that hold a value and may be in base64: as it is,
// escaped, and in base64 itself.
func encodings(value string) []string {
	forms := []string{value}
	if len(value) > maxNestedBytes {
		return forms
	}
	if quoted, err := json.Marshal(value); err == nil && string(quoted[1:len(quoted)-1]) != value {
		forms = append(forms, string(quoted[1:len(quoted)-1]))
	}
	for _, escaped := range []string{strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value), url.QueryEscape(value), url.PathEscape(value)} {
		if escaped != value {
			forms = append(forms, escaped)
		}
	}
	for offset := range 3 {
		inner := sextets(value, offset)
		for _, alphabet := range []string{base64Standard, base64URL} {
			text := make([]byte, 0, len(inner.symbols))
			for _, symbol := range inner.symbols {
				text = append(text, alphabet[symbol])
			}
			forms = append(forms, string(text))
		}
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// The alphabets of base64.
const (
	base64Letters  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	base64Standard = base64Letters + "+/"
	base64URL      = base64Letters + "-_"
)

// sextets returns the symbols that base64 of any text has where a form is so
// many bytes, modulo 3, after its beginning.
func sextets(form string, offset int) pattern {
	encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", offset) + form))
	first := (8*offset + 5) / 6
	end := 8 * (offset + len(form))
	p := pattern{before: 6*first - 8*offset, after: end % 6, phase: first}
	for _, c := range []byte(encoded[first : end/6]) {
		p.symbols = append(p.symbols, base64Values[c])
	}
	return p
}

func (m *matcher) noteLeads(first byte, bits int) {
	for symbol := range byte(64) {
		if bits > 0 && symbol&(1<<bits-1) == first>>(8-bits) {
			m.leads[symbol] = true
		}
	}
}

// redact returns a text without the values, and whether it had any.
func (m *matcher) redact(text []byte) (clean []byte, changed bool) {
	s := m.scanners.Get().(*scanner)
	defer func() {
		s.buf = nil // which may be the caller's
		m.scanners.Put(s)
	}()
	s.reset(text)
	s.scan(0)
	s.finish()
	if len(s.matches) == 0 && !s.owned {
		return text, false
	}
	clean = s.emit(make([]byte, 0, len(text)), len(text))
	return clean, true
}

// part returns a part of a text without the values, nor what it has of them.
func (m *matcher) part(text []byte, from, to int) []byte {
	s := m.scanners.Get().(*scanner)
	defer func() {
		s.buf = nil
		m.scanners.Put(s)
	}()
	s.reset(text)
	s.scan(0)
	s.finish()
	kept := s.matches[:0]
	for _, found := range s.matches {
		if found.start, found.end = max(found.start, from), min(found.end, to); found.start < found.end {
			kept = append(kept, found)
		}
	}
	s.matches, s.buf, s.base = kept, s.buf[from:], from
	return s.emit(make([]byte, 0, to-from), to)
}
