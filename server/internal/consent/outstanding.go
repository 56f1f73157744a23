package consent

import (
	"container/list"
	"crypto/rand"
	"sync"
	"time"
)

// Bounds of the questions that wait for an answer. They cost a few hundred bytes
// each.
const (
	maxOutstandingOfOne = 32
	maxOutstanding      = 4096
	// maxWaitingOfOne is how many calls of one caller wait for an answer at
	// once, where the protocol has them wait.
	maxWaitingOfOne = 32
	maxWaiting      = 1024
)

// outstanding knows the questions that clients may still answer, each once. For
// one too many the oldest of its caller, or of all, is given up.
type outstanding struct {
	mu      sync.Mutex
	byNonce map[mark]*list.Element
	order   list.List // of issued, the oldest first
	callers map[mark]int
}

type issued struct {
	nonce, caller mark
	expires       int64
}

// issue returns the nonce of a new question.
func (o *outstanding) issue(caller mark, now, expires time.Time) (nonce mark) {
	_, _ = rand.Read(nonce[:]) // which never fails
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byNonce == nil {
		o.byNonce, o.callers = map[mark]*list.Element{}, map[mark]int{}
	}
	for oldest := o.order.Front(); oldest != nil && oldest.Value.(issued).expires <= now.Unix(); oldest = o.order.Front() {
		o.drop(oldest)
	}
	switch {
	case o.callers[caller] >= maxOutstandingOfOne:
		o.drop(o.oldestOf(caller))
	case o.order.Len() >= maxOutstanding:
		o.drop(o.order.Front())
	}
	o.byNonce[nonce] = o.order.PushBack(issued{nonce, caller, expires.Unix()})
	o.callers[caller]++
	return nonce
}

// take reports whether a question was outstanding, which it is no more.
func (o *outstanding) take(nonce mark) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	element := o.byNonce[nonce]
	if element != nil {
		o.drop(element)
	}
	return element != nil
}

// oldestOf returns the oldest question of a caller who has one; the caller of it
// holds the lock.
func (o *outstanding) oldestOf(caller mark) *list.Element {
	element := o.order.Front()
	for element.Value.(issued).caller != caller {
		element = element.Next()
	}
	return element
}

// drop forgets a question; the caller holds the lock.
func (o *outstanding) drop(element *list.Element) {
	question := o.order.Remove(element).(issued)
	delete(o.byNonce, question.nonce)
	if o.callers[question.caller]--; o.callers[question.caller] == 0 {
		delete(o.callers, question.caller)
	}
}

// waiting counts the calls that wait for an answer.
type waiting struct {
	mu      sync.Mutex
	all     int
	callers map[string]int
}

// enter counts one more until leave is called, where there is room for it.
func (w *waiting) enter(caller string) (leave func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all >= maxWaiting || w.callers[caller] >= maxWaitingOfOne {
		return nil, false
	}
	if w.callers == nil {
		w.callers = map[string]int{}
	}
	w.all++
	w.callers[caller]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all--
		if w.callers[caller]--; w.callers[caller] == 0 {
			delete(w.callers, caller)
		}
	}, true
}
