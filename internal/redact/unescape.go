package redact

import "unicode/utf8"

// symbol is a byte of a text without its escapes, and the range of the text that
// it was written as.
type symbol struct {
	value      byte
	start, end int
}

// Bounds of what is one symbol, so that little is kept back.
const (
	maxBackslashes = 64 // in a row
	maxNested      = 8  // % or & that is escaped again and again
	maxHeld        = 12 // characters of one escape
)

// unescaper takes one kind of escapes off a text: \ as of JSON, JavaScript,
// Python and C, % as of URLs, or & as of HTML. Escapes that are escaped in turn
// are taken off at once, to any depth: any number of backslashes is as one,
// and %2541 is A. A text and what is looked for in it have to go through the same.
type unescaper struct {
	lead byte
	// first is the lead of what may be an escape, held what came after it, and
	// nested how many leads there were before.
	first  symbol
	held   []symbol
	nested int
	open   bool
}

// heldFrom returns where what is kept back begins, or otherwise.
func (u *unescaper) heldFrom(otherwise int) int {
	if u.open {
		return min(u.first.start, otherwise)
	}
	return otherwise
}

// push takes a symbol, and appends to out those that come of it.
func (u *unescaper) push(s symbol, out []symbol) []symbol {
	if !u.open {
		if s.value != u.lead {
			return append(out, s)
		}
		u.begin(s)
		return out
	}
	if u.lead == '\\' && s.value == '\\' && len(u.held) == 0 {
		u.first.end = s.end
		if u.nested++; u.nested > maxBackslashes {
			u.begin(s)
		}
		return out
	}
	u.held = append(u.held, s)
	decoded, state := u.decode()
	switch state {
	case incomplete:
		if len(u.held) < maxHeld {
			return out
		}
		return u.giveUp(out, len(u.held))
	case complete:
		return u.deliver(decoded, s.end, out)
	default:
		// The last symbol may be the lead of another escape.
		last := u.held[len(u.held)-1]
		if u.lead == '\\' && len(u.held) == 1 {
			last.start = u.first.start
		}
		return u.push(last, u.giveUp(out, len(u.held)-1))
	}
}

func (u *unescaper) begin(s symbol) {
	u.open, u.first, u.held, u.nested = true, s, u.held[:0], 0
}

// deliver appends a character that was decoded, unless that is the lead of
// an escape itself.
func (u *unescaper) deliver(c rune, end int, out []symbol) []symbol {
	if c == rune(u.lead) && u.lead != '\\' && u.nested < maxNested {
		nested := u.nested + 1
		u.begin(symbol{u.lead, u.first.start, end})
		u.nested = nested
		return out
	}
	u.open = false
	if u.escapesByte() {
		return append(out, symbol{byte(c), u.first.start, end})
	}
	var encoded [4]byte
	for _, b := range appendRune(encoded[:0], c) {
		out = append(out, symbol{b, u.first.start, end})
	}
	return out
}

// escapesByte reports whether the escape is one of a byte: %41, \x41, \101.
func (u *unescaper) escapesByte() bool {
	return u.lead == '%' || u.lead == '\\' && len(u.held) == 3 && (u.held[0].value == 'x' || u.held[0].value <= '3')
}

// giveUp appends the first n symbols that were held, which are no escape. A
// backslash is dropped, as everywhere.
func (u *unescaper) giveUp(out []symbol, n int) []symbol {
	u.open = false
	if u.lead != '\\' {
		out = append(out, u.first)
	} else if n > 0 {
		u.held[0].start = u.first.start
	}
	return append(out, u.held[:n]...)
}

// finish appends what is left at the end of the text.
func (u *unescaper) finish(out []symbol) []symbol {
	if !u.open {
		return out
	}
	return u.giveUp(out, len(u.held))
}

// appendRune appends UTF-8, in which halves of surrogate pairs are characters.
func appendRune(to []byte, c rune) []byte {
	if 0xd800 <= c && c < 0xe000 {
		return append(to, 0xe0|byte(c>>12), 0x80|byte(c>>6)&0x3f, 0x80|byte(c)&0x3f)
	}
	return utf8.AppendRune(to, c)
}

// state is how much of an escape is there.
type state int

const (
	invalid state = iota
	incomplete
	complete
)

// decode reads what is held as an escape.
func (u *unescaper) decode() (rune, state) {
	switch u.lead {
	case '\\':
		return decodeBackslash(u.held)
	case '%':
		return digitsOf(u.held, 16, 2)
	default:
		return decodeEntity(u.held)
	}
}

var controls = map[byte]rune{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f'}

func decodeBackslash(held []symbol) (rune, state) {
	first, rest := held[0].value, held[1:]
	switch control, known := controls[first]; {
	case known:
		return control, complete
	case first == 'u' && len(rest) > 0 && rest[0].value == '{':
		return untilEnd(rest[1:], 16, '}')
	case first == 'u':
		return digitsOf(rest, 16, 4)
	case first == 'U':
		return digitsOf(rest, 16, 8)
	case first == 'x':
		return digitsOf(rest, 16, 2)
	case '0' <= first && first <= '3':
		return digitsOf(held, 8, 3)
	case len(rest) == 0 && first < utf8.RuneSelf:
		return rune(first), complete
	}
	return 0, invalid
}

var entities = map[string]rune{"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\''}

func decodeEntity(held []symbol) (rune, state) {
	if held[0].value == '#' {
		if len(held) > 1 && held[1].value|0x20 == 'x' {
			return untilEnd(held[2:], 16, ';')
		}
		return untilEnd(held[1:], 10, ';')
	}
	last := held[len(held)-1].value
	if last|0x20 >= 'a' && last|0x20 <= 'z' {
		return 0, incomplete
	}
	var name []byte
	for _, s := range held[:len(held)-1] {
		name = append(name, s.value)
	}
	if c, known := entities[string(name)]; known && last == ';' {
		return c, complete
	}
	return 0, invalid
}

// untilEnd reads a number that the byte end follows.
func untilEnd(held []symbol, base rune, end byte) (rune, state) {
	if len(held) == 0 {
		return 0, incomplete
	}
	if n := len(held) - 1; n > 0 && held[n].value == end {
		return digitsOf(held[:n], base, n)
	}
	c, state := digitsOf(held, base, len(held))
	if state == complete {
		state = incomplete
	}
	return c, state
}

// digitsOf reads a number of so many digits.
func digitsOf(held []symbol, base rune, n int) (c rune, _ state) {
	for _, s := range held {
		digit := digitOf(s.value)
		if digit >= base || c > utf8.MaxRune {
			return 0, invalid
		}
		c = c*base + digit
	}
	switch {
	case len(held) < n:
		return 0, incomplete
	case c > utf8.MaxRune:
		return 0, invalid
	}
	return c, complete
}

// digitOf returns what a digit stands for, in any base up to 16; 16 for none.
func digitOf(b byte) rune {
	switch {
	case '0' <= b && b <= '9':
		return rune(b - '0')
	case 'a' <= b && b <= 'f':
		return rune(b-'a') + 10
	case 'A' <= b && b <= 'F':
		return rune(b-'A') + 10
	}
	return 16
}
