package redact

// stretch finds the values in a text without escapes.
type stretch struct {
	automaton *automaton
	state     int32
	starts    []int // of the last symbols
	mask      int
	count     int // of all symbols so far
}

func newStretch(a *automaton) stretch {
	size := 4
	for size < a.longest+1 {
		size *= 2
	}
	return stretch{automaton: a, starts: make([]int, size), mask: size - 1}
}

func (t *stretch) reset() { t.state, t.count = 0, 0 }

// scan takes symbols of the text without its escapes.
func (t *stretch) scan(symbols []symbol, to *scanner) {
	a := t.automaton
	for i := range symbols {
		s := &symbols[i]
		value := folded(s.value)
		if t.state == 0 && a.root[value] == 0 {
			continue
		}
		t.starts[t.count&t.mask] = s.start
		t.count++
		before := t.state
		t.state = a.step(t.state, value)
		n := &a.nodes[t.state]
		if n.out != 0 {
			p := &a.patterns[n.out-1]
			to.add(t.startOf(len(p.symbols)), s.end, p.secret)
		} else if s.value == ellipsis[0] {
			t.partial(before, t.count-1, s.start, to)
		}
	}
}

// partial adds a match for the beginning of a value, after which the text was cut
// at end; count symbols came until then.
func (t *stretch) partial(state int32, count, end int, to *scanner) {
	n := &t.automaton.nodes[state]
	if p, cut := t.automaton.cutAt(n); cut {
		to.add(t.starts[(count-int(n.depth))&t.mask], end, p.secret)
	}
}

// startOf returns where so many of the last symbols begin.
func (t *stretch) startOf(symbols int) int { return t.starts[(t.count-symbols)&t.mask] }

// heldFrom returns where what may be the beginning of a value begins, or
// otherwise.
func (t *stretch) heldFrom(otherwise int) int {
	open := t.automaton.nodes[t.state].open
	if open == 0 {
		return otherwise
	}
	return min(t.startOf(int(open)), otherwise)
}
