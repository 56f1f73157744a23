package redact

// automaton finds all patterns in a sequence of symbols in one pass (Aho and
// Corasick), so that no text makes it slow.
type automaton struct {
	nodes    []node
	root     [256]int32
	branches map[int32][]edge
	patterns []pattern
	longest  int
}

// node is a state: the longest end of what was read that patterns begin with.
type node struct {
	child    int32 // by the symbol next; 0 is none
	fail     int32
	depth    int32
	open     int32 // how much of that end more can follow of
	out      int32 // the longest pattern that ends here, and 1; 0 is none
	beginsAt int32 // a pattern that begins so
	next     byte
	more     bool // has branches
}

// edge is a further child of a node that has several.
type edge struct {
	symbol byte
	child  int32
}

// pattern is one form of a secret, in symbols.
type pattern struct {
	secret  int
	symbols []byte
	// Of base64: how many bits of the symbols before and after the pattern are
	// the secret's too, and the place of its first symbol among the 4 of 3 bytes.
	before, after, phase int
}

func newAutomaton(patterns []pattern) *automaton {
	a := &automaton{nodes: make([]node, 1), branches: map[int32][]edge{}, patterns: patterns}
	for i, p := range patterns {
		a.add(int32(i), p.symbols)
		a.longest = max(a.longest, len(p.symbols))
	}
	a.link()
	return a
}

func (a *automaton) add(index int32, symbols []byte) {
	state := int32(0)
	for _, symbol := range symbols {
		next := a.childOf(state, symbol)
		if next == 0 {
			next = int32(len(a.nodes))
			a.nodes = append(a.nodes, node{depth: a.nodes[state].depth + 1, beginsAt: index})
			a.connect(state, symbol, next)
		}
		state = next
	}
	if a.nodes[state].out == 0 {
		a.nodes[state].out = index + 1
	}
}

func (a *automaton) childOf(state int32, symbol byte) int32 {
	if state == 0 {
		return a.root[symbol]
	}
	n := &a.nodes[state]
	if n.child != 0 && n.next == symbol {
		return n.child
	}
	if n.more {
		for _, e := range a.branches[state] {
			if e.symbol == symbol {
				return e.child
			}
		}
	}
	return 0
}

func (a *automaton) connect(state int32, symbol byte, child int32) {
	n := &a.nodes[state]
	switch {
	case state == 0:
		a.root[symbol] = child
	case n.child == 0:
		n.child, n.next = child, symbol
	default:
		n.more = true
		a.branches[state] = append(a.branches[state], edge{symbol, child})
	}
}

// link sets where each state fails to, nearest to the root first.
func (a *automaton) link() {
	var queue []int32
	for _, child := range a.root {
		if child != 0 {
			queue = append(queue, child)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		state := queue[0]
		n := &a.nodes[state]
		follow := func(symbol byte, child int32) {
			a.nodes[child].fail = a.step(n.fail, symbol)
			if a.nodes[child].out == 0 {
				a.nodes[child].out = a.nodes[a.nodes[child].fail].out
			}
			queue = append(queue, child)
		}
		if n.child != 0 {
			follow(n.next, n.child)
		}
		for _, e := range a.branches[state] {
			follow(e.symbol, e.child)
		}
		if n.open = n.depth; n.child == 0 {
			n.open = a.nodes[n.fail].open
		}
	}
}

// step returns the state after a symbol.
func (a *automaton) step(state int32, symbol byte) int32 {
	for state != 0 {
		if next := a.childOf(state, symbol); next != 0 {
			return next
		}
		state = a.nodes[state].fail
	}
	return a.root[symbol]
}

// minPartial is the length of the beginning of a value, and partialShare its
// share of the value, one in so many, from which on it is taken out where the
// text ends with it, or with it and an ellipsis: for it was cut there.
const (
	minPartial   = 16
	partialShare = 4
)

// cutAt returns the pattern that so much of is there that it is taken for it.
func (a *automaton) cutAt(n *node) (*pattern, bool) {
	if n.depth < minPartial || n.out != 0 {
		return nil, false
	}
	p := &a.patterns[n.beginsAt]
	return p, int(n.depth)*partialShare >= len(p.symbols)
}
