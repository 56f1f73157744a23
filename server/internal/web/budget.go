package web

import "sync"

// budget bounds the bytes that requests have together.
type budget struct {
	// most bounds those of all requests, mostOfOne those of one caller's.
	most, mostOfOne int64

	mu       sync.Mutex
	held     int64
	byCaller map[string]int64
}

func newBudget(most, mostOfOne int64) *budget {
	return &budget{most: most, mostOfOne: mostOfOne, byCaller: map[string]int64{}}
}

// share is what one request has of a budget.
type share struct {
	of     *budget
	caller string
	held   int64
}

// raise acquires bytes for a caller, which stays the same, until there are so
// many, and reports whether there is room.
func (s *share) raise(caller string, to int64) bool {
	b := s.of
	b.mu.Lock()
	defer b.mu.Unlock()
	more := to - s.held
	if b.held+more > b.most || b.byCaller[caller]+more > b.mostOfOne {
		return false
	}
	s.caller = caller
	s.add(more)
	return true
}

// release gives back all bytes of the request.
func (s *share) release() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.add(-s.held)
}

// add changes the sums; the caller holds the lock.
func (s *share) add(more int64) {
	b := s.of
	s.held += more
	b.held += more
	if b.byCaller[s.caller] += more; b.byCaller[s.caller] == 0 {
		delete(b.byCaller, s.caller)
	}
}
