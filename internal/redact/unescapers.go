package redact

import "bytes"

// unescapers take off escapes within each other: backslashes within percent
// escapes, too.
type unescapers struct {
	stages  [4]unescaper
	scratch [2][]symbol
}

func newUnescapers() unescapers {
	return unescapers{stages: [4]unescaper{{lead: '\\'}, {lead: '%'}, {lead: '&'}, {lead: '\\'}}}
}

func (u *unescapers) reset() {
	for i := range u.stages {
		u.stages[i].open = false
	}
}

// push takes a part of a text, and its symbols, and returns those without
// escapes, which are good until the next call.
func (u *unescapers) push(text []byte, symbols []symbol) []symbol {
	if u.stages[0].open || u.stages[1].open || u.stages[2].open || u.stages[3].open || bytes.ContainsAny(text, `\%&`) {
		for i := range u.stages {
			symbols = u.stage(i, symbols)
		}
	}
	return symbols
}

// finish returns what is left at the end of the text.
func (u *unescapers) finish() []symbol {
	var symbols []symbol
	for i := range u.stages {
		symbols = u.stages[i].finish(u.stage(i, symbols))
	}
	return symbols
}

// stage has one stage work on what the one before it made.
func (u *unescapers) stage(i int, symbols []symbol) []symbol {
	out := u.scratch[i%2][:0]
	for _, s := range symbols {
		out = u.stages[i].push(s, out)
	}
	u.scratch[i%2] = out
	return out
}

// heldFrom returns where what is kept back begins, or otherwise.
func (u *unescapers) heldFrom(otherwise int) int {
	for i := range u.stages {
		otherwise = u.stages[i].heldFrom(otherwise)
	}
	return otherwise
}

// appendLiterals appends the symbols of a text as it is, which begins at start.
func appendLiterals(symbols []symbol, text []byte, start int) []symbol {
	for i, b := range text {
		symbols = append(symbols, symbol{b, start + i, start + i + 1})
	}
	return symbols
}
