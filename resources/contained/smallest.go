package contained

import "slices"

// smallest keeps the n smallest of the items that are added to it, in memory
// for twice as many.
type smallest[T any] struct {
	n       int
	compare func(a, b T) int
	items   []T
	bound   *T   // at and behind which nothing is kept any more, or nil
	more    bool // than n were added
}

// add reports whether an item is kept for the time being.
func (s *smallest[T]) add(item T) bool {
	if s.bound != nil && s.compare(item, *s.bound) >= 0 {
		return false
	}
	if s.items = append(s.items, item); len(s.items) >= 2*s.n {
		s.sorted()
	}
	return true
}

// sorted returns the n smallest.
func (s *smallest[T]) sorted() []T {
	slices.SortFunc(s.items, s.compare)
	if len(s.items) > s.n {
		bound := s.items[s.n]
		s.bound, s.more, s.items = &bound, true, s.items[:s.n]
	}
	return s.items
}
