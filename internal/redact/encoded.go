package redact

// maxSkipped is how many line breaks and spaces in a row may be within base64
// or hexadecimal.
const maxSkipped = 64

// Values of characters that are no symbols.
const (
	skipped = 254
	foreign = 255
)

// base64Values and hexValues are what characters stand for.
var (
	base64Values = tableOf(" \t\r\n", base64Standard, base64URL)
	hexValues    = tableOf(" \t\r\n:", "0123456789abcdef", "0123456789ABCDEF")
)

func tableOf(skip string, alphabets ...string) (table [256]byte) {
	for i := range table {
		table[i] = foreign
	}
	for i := range len(skip) {
		table[skip[i]] = skipped
	}
	for _, alphabet := range alphabets {
		for i := range len(alphabet) {
			table[alphabet[i]] = byte(i)
		}
	}
	return table
}

// Asterisks in base64, by the place of a symbol among the 4 of 3 bytes, and in
// hexadecimal. Whatever other bits are in a symbol with some of theirs, it is
// one that all alphabets have.
var (
	base64Fill = [4]byte{10, 34, 40, 42}
	hexFill    = [2]byte{2, 10}
)

// encoding finds the values in base64 or hexadecimal, and writes asterisks there.
type encoding struct {
	automaton *automaton
	table     *[256]byte
	alphabet  string
	fill      []byte
	leads     *[64]bool // nil where symbols hold bits of one byte alone

	state   int32
	ring    []symbol // the last ones
	mask    int
	count   int // of all symbols so far
	began   int // that count when the last stretch of symbols began
	skipped int
	// Of a form that has ended: how many bits of the next symbol are its too, and
	// the place of that among the 4 of 3 bytes.
	after, phase int
}

func newEncoding(a *automaton, table *[256]byte, alphabet string, fill []byte, leads *[64]bool) encoding {
	size := 4
	for size < a.longest+2 {
		size *= 2
	}
	return encoding{automaton: a, table: table, alphabet: alphabet, fill: fill, leads: leads, ring: make([]symbol, size), mask: size - 1}
}

func (e *encoding) reset() {
	e.state, e.count, e.began, e.skipped, e.after = 0, 0, 0, 0, 0
}

// interrupt ends a stretch of symbols.
func (e *encoding) interrupt() {
	e.state, e.began, e.skipped, e.after = 0, e.count, 0, 0
}

// scan takes symbols of the text without its escapes.
func (e *encoding) scan(symbols []symbol, to *scanner) {
	a := e.automaton
	for i := range symbols {
		s := &symbols[i]
		value := e.table[s.value]
		if value >= skipped {
			if e.skipped++; value == foreign || e.skipped > maxSkipped {
				e.interrupt()
			}
			continue
		}
		e.skipped = 0
		e.ring[e.count&e.mask] = symbol{value, s.start, s.end}
		if e.after > 0 {
			shift := 6 - e.after
			e.write(to, e.count, e.fill[e.phase&3]>>shift<<shift|value&(1<<shift-1))
			e.after = 0
		}
		e.count++
		if e.state = a.step(e.state, value); e.state == 0 {
			continue
		}
		if out := a.nodes[e.state].out; out != 0 {
			e.cover(&a.patterns[out-1], to)
		}
	}
}

// cover writes asterisks in the place of a form that has just ended.
func (e *encoding) cover(p *pattern, to *scanner) {
	first := e.count - len(p.symbols)
	if p.before > 0 && e.leadAt(first-1) {
		fill := e.fill[(p.phase+3)&3]
		low := byte(1)<<p.before - 1
		e.write(to, first-1, e.ring[(first-1)&e.mask].value&^low|fill&low)
	}
	for i := first; i < e.count; i++ {
		e.write(to, i, e.fill[(p.phase+i-first)%len(e.fill)])
	}
	e.after, e.phase = p.after, p.phase+len(p.symbols)
}

// write writes another symbol in the place of one of the last.
func (e *encoding) write(to *scanner, index int, value byte) {
	at := &e.ring[index&e.mask]
	at.value = value
	to.overwrite(at.start, at.end, e.alphabet[value])
}

// heldFrom returns where what may be the beginning of a form begins, or
// otherwise.
func (e *encoding) heldFrom(otherwise int) int {
	from := e.count - int(e.automaton.nodes[e.state].open)
	if e.leadAt(from - 1) {
		from--
	}
	if from == e.count {
		return otherwise
	}
	return min(e.ring[from&e.mask].start, otherwise)
}

// leadAt reports whether that symbol may hold the first bits of a form.
func (e *encoding) leadAt(index int) bool {
	return e.leads != nil && index >= e.began && e.leads[e.ring[index&e.mask].value]
}
