package egress

import (
	"context"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
)

// judge returns the rule of what a program asks for, which is the one of schemes
// that is granted; none of it is dialed before. The user may be asked, for the
// first of them.
func (s *Session) judge(ctx context.Context, host string, port int, schemes ...hosts.Scheme) (granted []hosts.Rule, refused *refusal) {
	refuse := func(reason Reason, detail string, wanted hosts.Rule) ([]hosts.Rule, *refusal) {
		return nil, &refusal{host: host, port: port, reason: reason, detail: detail, wanted: wanted, skill: s.grant.Skill}
	}
	if s.ctx.Err() != nil {
		return refuse(Revoked, "the run is over, or what it was granted was taken back", hosts.Rule{})
	}
	if !s.requests.take(1) {
		return refuse(TooMuch, "the run has made all the requests that it may", hosts.Rule{})
	}
	if s.budget.left.Load() <= 0 {
		return refuse(TooMuch, "the run has used up the bytes that it may send and receive", hosts.Rule{})
	}
	var first hosts.Rule
	for i, scheme := range schemes {
		wanted, err := hosts.New(scheme, host, port)
		if err != nil {
			return refuse(InvalidHost, "it is no name of a host; addresses cannot be reached", hosts.Rule{})
		}
		if i == 0 {
			first = wanted
		}
		if hosts.Allow(s.grant.Rules, wanted) || s.questions.allowed(wanted) {
			granted = append(granted, wanted)
		}
	}
	if len(granted) > 0 {
		return granted, nil
	}
	switch s.questions.ask(ctx, first) {
	case Yes:
		return []hosts.Rule{first}, nil
	case No:
		return refuse(Denied, "the user was asked, and it was not allowed", hosts.Rule{})
	default:
		return refuse(NotGranted, "it is not granted to this skill", first)
	}
}

// allow counts and logs what is let through.
func (s *Session) allow(rule hosts.Rule, request string) *entry {
	s.log(Event{Host: rule.Name(), Port: rule.Port(), Request: request})
	return s.ledger.allow(rule.Name(), rule.Port())
}

// refuse counts and logs what is not.
func (s *Session) refuse(refused *refusal, request string) {
	host := shownHost(refused.host)
	s.log(Event{Host: host, Port: refused.port, Refused: refused.reason, Request: request})
	s.ledger.refuse(host, refused.port, refused.reason, refused.wanted)
	if refused.cause != nil {
		s.proxy.options.Logger.Debug("a connection of a skill failed", "host", host, "port", refused.port, "reason", refused.reason, "error", refused.cause)
	}
}

func (s *Session) log(event Event) {
	if s.grant.Log != nil {
		event.Time = time.Now()
		s.grant.Log(event)
	}
}
