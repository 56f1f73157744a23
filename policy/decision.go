package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

// Effect is a decision's outcome; the higher one is the stricter. The zero
// Effect belongs to no decision: compare with [Allow], so that what was never
// decided is not allowed.
type Effect int

// The effects.
const (
	Allow Effect = iota + 1
	// Ask allows what the user consents to. Only an approval asks; what a skill
	// declares allows or denies.
	Ask
	Deny
)

// String returns "allow", "ask", "deny", or "undecided" for any other value.
func (e Effect) String() string {
	switch e {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	case Deny:
		return "deny"
	}
	return "undecided"
}

// Decision is the answer to a request. Policy returns decisions; only the
// server turns one into an error. Its texts quote at most a line of the
// request and hold no host path that the request does not hold.
type Decision struct {
	Effect Effect
	// Rule names what decided, such as `allowed-tools: Bash(git log:*)` or
	// `allowed-tools: default`. It is never empty.
	Rule string
	// Reason says why, in one sentence for a model or an author.
	Reason string
	// Hint says what would be allowed, or what the author can add. Empty
	// where the effect is Allow.
	Hint string
	// Logged is set where Mode is Log and Enforce would have denied. Rule
	// and Reason are then those of the denial.
	Logged bool
}

// The rules that are not an entry of the skill's own.
const (
	ruleDefault   = "allowed-tools: default"
	ruleNotListed = "allowed-tools: not listed"
	ruleSyntax    = "allowed-tools: shell syntax"
	ruleRedirect  = "allowed-tools: redirect"
	ruleMalformed = "request: malformed"
	ruleTooLong   = "request: too long"
)

func allow(rule, reason string) Decision {
	return Decision{Effect: Allow, Rule: rule, Reason: reason}
}

func deny(rule, reason, hint string) Decision {
	return Decision{Effect: Deny, Rule: rule, Reason: reason, Hint: hint}
}

// listed allows what these entries grant; an entry is named once.
func listed(entries ...*entry) Decision {
	var texts []string
	for _, e := range entries {
		if !slices.Contains(texts, e.text) {
			texts = append(texts, e.text)
		}
	}
	return allow("allowed-tools: "+enumerate(texts), "Listed in the skill's allowed-tools.")
}

// Bounds of the texts in a decision.
const (
	maxQuotedRunes     = 100
	maxEnumerated      = 12
	maxEnumeratedBytes = 500
)

// quote shows a piece of a request in one bounded line.
func quote(text string) string {
	return strconv.Quote(truncate.After(text, maxQuotedRunes))
}

// enumerate joins as many texts as a decision can hold and counts the rest.
func enumerate(texts []string) string {
	var b strings.Builder
	for i, text := range texts {
		if i == maxEnumerated || b.Len() > 0 && b.Len()+len(text) > maxEnumeratedBytes {
			fmt.Fprintf(&b, " and %d more", len(texts)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(truncate.After(text, maxEnumeratedBytes))
	}
	return b.String()
}
