package redact

import (
	"bytes"
	"cmp"
	"slices"
)

// match is a range of the text in whose place a marker is written.
type match struct {
	start, end int
	marker     string
}

// scanner looks for the values in one text, which it may be given bit by bit.
// Positions count from the beginning of that.
type scanner struct {
	m *matcher
	// buf is what is kept of the text, from base on. It is a copy where owned is
	// set.
	buf   []byte
	base  int
	owned bool

	literal int32 // its state
	escapes unescapers
	plain   stretch
	base64  encoding
	hex     encoding
	symbols []symbol

	matches []match
	// covered is the end of what the last marker that was written stands for.
	covered int
}

func newScanner(m *matcher) *scanner {
	return &scanner{
		m: m, escapes: newUnescapers(), plain: newStretch(m.plain),
		base64: newEncoding(m.base64, &base64Values, base64Standard, base64Fill[:], &m.leads),
		hex:    newEncoding(m.hex, &hexValues, "0123456789abcdef", hexFill[:], nil),
	}
}

// reset begins with another text.
func (s *scanner) reset(text []byte) {
	s.buf, s.base, s.owned, s.literal, s.covered = text, 0, false, 0, 0
	s.matches = s.matches[:0]
	s.escapes.reset()
	s.plain.reset()
	s.base64.reset()
	s.hex.reset()
}

// blockBytes is how much of a text is worked on at once.
const blockBytes = 4 << 10

// scan looks at what is in the buffer from a position on, which is the first
// that was not looked at.
func (s *scanner) scan(from int) {
	s.scanLiteral(from)
	for from < s.base+len(s.buf) {
		to := min(from+blockBytes, s.base+len(s.buf))
		block := s.buf[from-s.base : to-s.base]
		s.symbols = appendLiterals(s.symbols[:0], block, from)
		s.take(s.escapes.push(block, s.symbols))
		from = to
	}
}

// take looks at symbols without escapes.
func (s *scanner) take(symbols []symbol) {
	s.plain.scan(symbols, s)
	s.base64.scan(symbols, s)
	s.hex.scan(symbols, s)
}

// scanLiteral looks at the text as it is.
func (s *scanner) scanLiteral(from int) {
	a, state := s.m.literal, s.literal
	for i := from - s.base; i < len(s.buf); i++ {
		if state == 0 {
			for i < len(s.buf) && a.root[s.buf[i]] == 0 {
				i++
			}
			if i == len(s.buf) {
				break
			}
		}
		before := state
		state = a.step(state, s.buf[i])
		n := &a.nodes[state]
		if n.out != 0 {
			p := &a.patterns[n.out-1]
			end := s.base + i + 1
			s.add(s.withEscape(end-len(p.symbols)), end, p.secret)
		} else if s.buf[i] == ellipsis[0] {
			s.partial(a, before, s.base+i)
		}
	}
	s.literal = state
}

// ellipsis is what a text is cut with.
const ellipsis = "…"

// partial adds a match for the beginning of a value, after which the text was
// cut.
func (s *scanner) partial(a *automaton, state int32, end int) {
	n := &a.nodes[state]
	if p, cut := a.cutAt(n); cut {
		s.add(end-int(n.depth), end, p.secret)
	}
}

// withEscape returns the beginning of a match, with the backslashes before it
// where the first of its bytes may be a part of their escape.
func (s *scanner) withEscape(start int) int {
	at := start - s.base
	run := s.backslashes(at)
	if run%2 == 1 && bytes.IndexByte([]byte(`"\/bfnrtu`), s.buf[at]) >= 0 {
		return start - run
	}
	return start
}

// backslashes returns how many backslashes are before a place of the buffer.
func (s *scanner) backslashes(at int) int {
	n := 0
	for n < maxBackslashes && at > n && s.buf[at-n-1] == '\\' {
		n++
	}
	return n
}

func (s *scanner) add(start, end, secret int) {
	s.matches = append(s.matches, match{start, end, s.m.secrets[secret].marker})
}

// overwrite writes one character in the place of a range.
func (s *scanner) overwrite(start, end int, c byte) {
	if start < s.base {
		return
	}
	if !s.owned {
		s.buf, s.owned = slices.Clone(s.buf), true
	}
	s.buf[start-s.base] = c
	if end > start+1 {
		s.matches = append(s.matches, match{start + 1, end, ""})
	}
}

// finish looks at what is only known to be no escape at the end of the text.
func (s *scanner) finish() {
	s.take(s.escapes.finish())
	s.plain.partial(s.plain.state, s.plain.count, s.base+len(s.buf), s)
	s.partial(s.m.literal, s.literal, s.base+len(s.buf))
}

// settled returns the position up to which nothing that comes can change what
// was found.
func (s *scanner) settled() int {
	end := s.base + len(s.buf)
	start := end - int(s.m.literal.nodes[s.literal].open)
	start -= s.backslashes(start - s.base)
	return s.hex.heldFrom(s.base64.heldFrom(s.plain.heldFrom(s.escapes.heldFrom(start))))
}

// emit appends to out the text up to a position, with markers in the place of
// the matches that begin before it, and drops it from the buffer. Of matches that
// overlap, the first says what is written, or the longest of those.
func (s *scanner) emit(out []byte, to int) []byte {
	slices.SortFunc(s.matches, func(a, b match) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	at := s.base
	used := 0
	for _, m := range s.matches {
		if m.start >= to {
			break
		}
		used++
		if m.start >= s.covered {
			out = append(out, s.between(max(at, s.covered), m.start)...)
			out = append(out, m.marker...)
			at = m.start
		}
		s.covered = max(s.covered, m.end)
	}
	out = append(out, s.between(max(at, s.covered), to)...)
	s.matches = slices.Delete(s.matches, 0, used)
	s.buf = s.buf[to-s.base:]
	s.base = to
	return out
}

// between returns the text from one position to another, if that is after it.
func (s *scanner) between(from, to int) []byte {
	if from >= to {
		return nil
	}
	return s.buf[from-s.base : to-s.base]
}
