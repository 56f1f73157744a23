package egress

import (
	"context"
	"sync"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
)

// Answer is what came of a question.
type Answer int

// The answers. NotAsked is that of a question which was not put, or not answered.
const (
	NotAsked Answer = iota
	Yes
	No
)

// questions asks the user, for each rule once and one at a time.
type questions struct {
	session context.Context // ends with the session
	put     func(ctx context.Context, wanted hosts.Rule) Answer

	turn    sync.Mutex // held while the user is asked
	mu      sync.Mutex
	answers map[hosts.Rule]Answer
}

// allowed reports whether the user has said yes already.
func (q *questions) allowed(wanted hosts.Rule) bool {
	known, _ := q.known(wanted)
	return known == Yes
}

// known returns the answer to a question that was put before, and whether it may
// be put, unless it was.
func (q *questions) known(wanted hosts.Rule) (known Answer, ask bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	known, found := q.answers[wanted]
	return known, !found && len(q.answers) < MaxHosts
}

// ask returns what the user says, or has said.
func (q *questions) ask(ctx context.Context, wanted hosts.Rule) Answer {
	if q.put == nil {
		return NotAsked
	}
	if known, ask := q.known(wanted); !ask {
		return known
	}
	q.turn.Lock()
	defer q.turn.Unlock()
	if known, ask := q.known(wanted); !ask || ctx.Err() != nil || q.session.Err() != nil {
		return known
	}
	// Not the request's context: who waits may go, the answer is for the session.
	said := q.put(q.session, wanted)
	if q.session.Err() != nil {
		said = No
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.answers[wanted] = said
	return said
}
