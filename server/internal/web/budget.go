package web

import "sync"

// budget bounds what requests hold together.
type budget struct {
	// most is for all of them, and mostOfOne for those of one caller.
	most, mostOfOne int64

	mu       sync.Mutex
	held     int64
	byCaller map[string]int64
}

// share is what one request holds of a budget.
type share struct {
	of     *budget
	caller string
	held   int64
}

// raise has a request of a caller, which stays the same, hold so much, and
// reports whether there is room.
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

// release gives back what the request holds.
func (s *share) release() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.add(-s.held)
}

// add changes the sums; the caller holds the lock.
func (s *share) add(more int64) {
	b := s.of
	if b.byCaller == nil {
		b.byCaller = map[string]int64{}
	}
	s.held += more
	b.held += more
	if b.byCaller[s.caller] += more; b.byCaller[s.caller] == 0 {
		delete(b.byCaller, s.caller)
	}
}
