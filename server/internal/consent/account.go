package consent

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Bounds of what one caller is asked for what programs of one skill wait for.
const (
	maxQuestions = 32 // of a session, or in accountLifetime
	maxRefusals  = 3  // of them that were not allowed, whatever about
	maxDeferred  = 6  // that wait for the same call to be made again
	// accountLifetime is how long it is known what was asked, from the last question
	// on.
	accountLifetime = time.Hour
	maxAccounts     = 4096
)

// account is what one caller was asked while programs of one skill waited.
type account struct {
	turn chan struct{} // held while the user is asked

	mu              sync.Mutex
	asked, refusals int
	refused         map[mark]Outcome
	deferred        []deferred
	expires         time.Time // guarded by accounts
}

// deferred is a question that is asked when a program is run again.
type deferred struct {
	program string
	asked   mark
	q       Question
}

// refusal returns how a question was refused before, if it was.
func (a *account) refusal(question mark) (Outcome, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	outcome, found := a.refused[question]
	return outcome, found
}

// begin counts a question, where one more may be asked.
func (a *account) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	may := a.mayAsk()
	if may {
		a.asked++
	}
	return may
}

// mayAsk is called with the lock held.
func (a *account) mayAsk() bool { return a.asked < maxQuestions && a.refusals < maxRefusals }

// end counts what a question came to.
func (a *account) end(question mark, outcome Outcome) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch outcome {
	case Allowed:
		return
	case Refused, Canceled:
		a.refused[question] = outcome
	}
	a.refusals++
}

// putOff keeps a question until its program is run again, where it may be asked
// then. Only the latest are.
func (a *account) putOff(d deferred) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.mayAsk() {
		return false
	}
	a.deferred = slices.DeleteFunc(a.deferred, func(old deferred) bool { return old.asked == d.asked && old.program == d.program })
	a.deferred = append(a.deferred, d)
	a.deferred = a.deferred[max(0, len(a.deferred)-maxDeferred):]
	return true
}

// due returns what was put off until a program is run again.
func (a *account) due(program string) (due []deferred) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range a.deferred {
		if d.program == program {
			due = append(due, d)
		}
	}
	return due
}

// accounts are those of all callers and skills.
type accounts struct {
	mu  sync.Mutex
	all map[mark]*account
}

// get returns an account, a new one where there is none that is known still. For
// one too many the oldest is forgotten.
func (a *accounts) get(key mark, now time.Time) *account {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.all, func(_ mark, old *account) bool { return !now.Before(old.expires) })
	found := a.all[key]
	if found == nil {
		if len(a.all) >= maxAccounts {
			a.dropOldest()
		}
		if a.all == nil {
			a.all = map[mark]*account{}
		}
		found = &account{turn: make(chan struct{}, 1), refused: map[mark]Outcome{}}
		a.all[key] = found
	}
	found.expires = now.Add(accountLifetime)
	return found
}

// dropOldest is called with the lock held.
func (a *accounts) dropOldest() {
	var oldest mark
	for key, each := range a.all {
		if found := a.all[oldest]; found == nil || each.expires.Before(found.expires) {
			oldest = key
		}
	}
	delete(a.all, oldest)
}
