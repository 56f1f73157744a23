// Package approval decides whether something may be done at once, only when the
// user was asked, or not at all. It is pure, as package policy is: who asks, and
// how, is the server's matter.
//
// An approval comes after the policy: what a skill may not do by its
// allowed-tools is denied whatever anybody consents to. It is no boundary of its
// own either, since what a client answers may come from a machine. What holds in
// every case is the sandbox.
package approval

import (
	"fmt"

	"github.com/skills-mcp/skills-mcp/policy"
)

// Kind is what is to be done.
type Kind string

// The kinds.
const (
	Run   Kind = "run"   // run a program
	Read  Kind = "read"  // read a skill's files
	Apply Kind = "apply" // write held changes to the user's files
	// Network is to reach a host that is not granted to the skill.
	Network Kind = "network"
)

// Scope is for how long an answer of the user holds. The zero Scope is no
// answer.
type Scope string

// The scopes, from the shortest on.
const (
	Once    Scope = "once"    // for what was asked about, this time
	Session Scope = "session" // until the session ends
	Always  Scope = "always"  // until the skill changes or the user revokes it
)

// Request is what there is to decide.
type Request struct {
	Kind Kind
	// Config, Caller and Skill are what is said in general, for this caller and
	// for this skill. The strictest wins. Where nothing is said, programs run
	// and files are read freely, the user is asked before changes, and no host is
	// reached that is not granted.
	Config, Caller, Skill Modes
	// CanAsk says that there is a way to ask the user.
	CanAsk bool
	// Answered is the scope in which the user has consented to exactly this
	// before.
	Answered Scope
}

// rules name the setting that decides about a kind, as the configuration has it.
var rules = map[Kind]string{Run: "approval.runs", Read: "approval.reads", Apply: "approval.mode", Network: "approval.network"}

// deeds name a kind to a reader.
var deeds = map[Kind]string{Run: "running programs", Read: "reading a skill's files", Apply: "changing the user's files", Network: "reaching a host that is not granted"}

// Decide answers a request: [policy.Allow], [policy.Ask] or [policy.Deny]. What
// it does not know it denies. Decide may be called concurrently.
func Decide(request Request) policy.Decision {
	setting, known := rules[request.Kind]
	if !known {
		return deny("approval: unknown", fmt.Sprintf("Nothing can be approved of the kind %q.", request.Kind), "Tell the user.")
	}
	mode := strictest(request.Kind, request.Config, request.Caller, request.Skill)
	rule := setting + ": " + string(mode)
	deed := deeds[request.Kind]
	switch {
	case mode == Free:
		return policy.Decision{Effect: policy.Allow, Rule: rule, Reason: "No approval is needed for " + deed + "."}
	case mode == Host:
		return policy.Decision{Effect: policy.Allow, Rule: rule, Reason: "The host asks its user before the tool is called."}
	case mode != Ask:
		return deny(rule, "The operator of this server does not allow "+deed+".", "Do without it, or tell the user.")
	case request.Answered == Session, request.Answered == Always:
		return policy.Decision{Effect: policy.Allow, Rule: rule + ", answered: " + string(request.Answered),
			Reason: "The user was asked before, and allowed it."}
	case !request.CanAsk:
		return deny(rule, "The user has to be asked before "+deed+", and this client has no way to ask.", wayOut(request.Kind))
	}
	return policy.Decision{Effect: policy.Ask, Rule: rule, Reason: "The user has to be asked before " + deed + ".",
		Hint: "Wait for the answer."}
}

func deny(rule, reason, hint string) policy.Decision {
	return policy.Decision{Effect: policy.Deny, Rule: rule, Reason: reason, Hint: hint}
}

// wayOut says what the user can do whose client cannot ask.
func wayOut(kind Kind) string {
	const restart = "Tell the user, who can start the server with "
	switch kind {
	case Apply:
		return "Tell the user, who can look at the changes with `skills-mcp changes` at a terminal and write them with `skills-mcp apply`, " +
			"or start the server with --approval=host where the host itself asks before each call."
	case Network:
		return "Tell the user, who can grant the host with `skills-mcp grant NAME --host HOST`, or use a client that can ask (MCP elicitation)."
	case Run:
		return restart + "`approval.runs: free`, since programs run in a sandbox, or use a client that can ask (MCP elicitation)."
	default:
		return restart + "`approval.reads: free`, or use a client that can ask (MCP elicitation)."
	}
}
