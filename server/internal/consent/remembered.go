package consent

import (
	"context"
	"slices"
	"sync"

	"github.com/skills-mcp/skills-mcp/internal/answers"
	"github.com/skills-mcp/skills-mcp/policy/approval"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
)

// maxSessionAnswers bounds the answers of one session. One more holds once.
const maxSessionAnswers = 1000

// sessions has the answers for a session, until the session ends.
type sessions struct {
	mu   sync.Mutex
	byID map[string]map[answers.Subject]struct{}
}

func (s *sessions) has(id string, subject answers.Subject) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.byID[id][subject]
	return ok
}

// add reports whether there was room.
func (s *sessions) add(id string, subject answers.Subject) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID == nil {
		s.byID = map[string]map[answers.Subject]struct{}{}
	}
	if s.byID[id] == nil {
		s.byID[id] = map[answers.Subject]struct{}{}
	}
	if len(s.byID[id]) >= maxSessionAnswers {
		return false
	}
	s.byID[id][subject] = struct{}{}
	return true
}

// Forget drops the answers of a session that ended.
func (d *Door) Forget(session string) {
	d.sessions.mu.Lock()
	defer d.sessions.mu.Unlock()
	delete(d.sessions.byID, session)
}

// remembered returns the scope in which the user has allowed a question before.
func (d *Door) remembered(ctx context.Context, q Question) approval.Scope {
	if d.lasts(q) {
		if _, ok := d.opts.Answers.Find(q.subject()); ok {
			return approval.Always
		}
	}
	if id := request.SessionID(ctx); id != "" && q.binds() && d.sessions.has(id, q.subject()) {
		return approval.Session
	}
	return ""
}

// Holds reports whether the user has not taken back since what was allowed for
// always.
func (d *Door) Holds(q Question) bool {
	kept, err := d.opts.Answers.List() // which forgets nothing about other versions
	return err == nil && slices.ContainsFunc(kept, func(answer answers.Answer) bool { return answer.Subject == q.subject() })
}

// lasts reports whether a question can be answered for always.
func (d *Door) lasts(q Question) bool {
	return d.opts.Answers != nil && q.binds() && q.Skill != "" && q.Dir != ""
}

// choices are those that a question has for its caller.
func (d *Door) choices(ctx context.Context, q Question) []string {
	choices := []string{choiceOnce}
	if request.SessionID(ctx) != "" && q.binds() {
		choices = append(choices, choiceSession)
	}
	if d.lasts(q) {
		choices = append(choices, choiceAlways)
	}
	return append(choices, choiceDecline)
}

// remember keeps an answer, and returns the scope in which it holds: once where
// it cannot be kept.
func (d *Door) remember(ctx context.Context, q Question, scope approval.Scope) approval.Scope {
	switch scope {
	case approval.Session:
		if d.sessions.add(request.SessionID(ctx), q.subject()) {
			return scope
		}
		d.opts.Logger.Warn("a session has too many answers, so one more holds once")
	case approval.Always:
		shown := display.Line(q.Title)
		if q.Covers != "" {
			shown += " (" + q.Covers + ")"
		}
		_, err := d.opts.Answers.Remember(q.subject(), shown)
		if err == nil {
			return scope
		}
		d.opts.Logger.Warn("an answer for always cannot be kept, so it holds once", "error", err)
	}
	return approval.Once
}
