package egress

import (
	"context"
	"sync"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
)

// maxQuestions is how often one run may have its user asked.
const maxQuestions = 16

// answer is what came of a question.
type answer int

const (
	unasked answer = iota
	yes
	no
)

// questions asks the user, for each rule once and one at a time.
type questions struct {
	session context.Context // ends with the session
	put     func(ctx context.Context, wanted hosts.Rule) bool

	turn    sync.Mutex // held while the user is asked
	mu      sync.Mutex
	answers map[hosts.Rule]answer
	asked   int
}

// allowed reports whether the user has said yes already.
func (q *questions) allowed(wanted hosts.Rule) bool { return q.known(wanted) == yes }

func (q *questions) known(wanted hosts.Rule) answer {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.answers[wanted]
}

// ask returns what the user says, or has said, and unasked where that cannot be
// known.
func (q *questions) ask(ctx context.Context, wanted hosts.Rule) answer {
	if q.put == nil {
		return unasked
	}
	if known := q.known(wanted); known != unasked {
		return known
	}
	q.turn.Lock()
	defer q.turn.Unlock()
	if known := q.known(wanted); known != unasked {
		return known
	}
	if q.asked >= maxQuestions || ctx.Err() != nil || q.session.Err() != nil {
		return unasked
	}
	q.asked++
	// Not the request's context: who waits may go, the answer is for the session.
	said := no
	if q.put(q.session, wanted) && q.session.Err() == nil {
		said = yes
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.answers[wanted] = said
	return said
}
