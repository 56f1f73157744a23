package approval_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/policy/approval"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	runs := func(mode approval.Mode) approval.Modes { return approval.Modes{Runs: mode} }
	apply := func(mode approval.Mode) approval.Modes { return approval.Modes{Apply: mode} }
	network := func(mode approval.Mode) approval.Modes { return approval.Modes{Network: mode} }
	tests := []struct {
		name string
		give approval.Request
		want policy.Effect
		rule string
	}{
		{"runs are free where nothing is said", approval.Request{Kind: approval.Run}, policy.Allow, "approval.runs: free"},
		{"so are reads", approval.Request{Kind: approval.Read}, policy.Allow, "approval.reads: free"},
		{"changes are asked about", approval.Request{Kind: approval.Apply, CanAsk: true}, policy.Ask, "approval.mode: ask"},
		{"the host's prompt will do", approval.Request{Kind: approval.Apply, Config: apply(approval.Host)}, policy.Allow, "approval.mode: host"},
		{"a client that can ask", approval.Request{Kind: approval.Run, Config: runs(approval.Ask), CanAsk: true}, policy.Ask, "approval.runs: ask"},
		{"a client that cannot", approval.Request{Kind: approval.Run, Config: runs(approval.Ask)}, policy.Deny, "approval.runs: ask"},
		{"answered for the session", approval.Request{Kind: approval.Run, Config: runs(approval.Ask), Answered: approval.Session}, policy.Allow, "approval.runs: ask, answered: session"},
		{"answered for always", approval.Request{Kind: approval.Apply, Answered: approval.Always}, policy.Allow, "approval.mode: ask, answered: always"},
		{"answered once is not answered", approval.Request{Kind: approval.Apply, Answered: approval.Once, CanAsk: true}, policy.Ask, "approval.mode: ask"},
		{"an answer in no known scope", approval.Request{Kind: approval.Apply, Answered: "ever", CanAsk: true}, policy.Ask, "approval.mode: ask"},
		{"no answer lifts a denial", approval.Request{Kind: approval.Run, Config: runs(approval.Deny), Answered: approval.Always, CanAsk: true}, policy.Deny, "approval.runs: deny"},
		{"a skill narrows", approval.Request{Kind: approval.Run, Config: runs(approval.Ask), Skill: runs(approval.Deny), CanAsk: true}, policy.Deny, "approval.runs: deny"},
		{"a skill cannot widen", approval.Request{Kind: approval.Run, Config: runs(approval.Deny), Skill: runs(approval.Free), CanAsk: true}, policy.Deny, "approval.runs: deny"},
		{"a caller narrows", approval.Request{Kind: approval.Apply, Config: apply(approval.Host), Caller: apply(approval.Ask), CanAsk: true}, policy.Ask, "approval.mode: ask"},
		{"a caller cannot widen", approval.Request{Kind: approval.Apply, Config: apply(approval.Ask), Caller: apply(approval.Host), CanAsk: true}, policy.Ask, "approval.mode: ask"},
		{"what is said of runs holds for runs", approval.Request{Kind: approval.Read, Config: runs(approval.Deny)}, policy.Allow, "approval.reads: free"},
		{"an unknown mode", approval.Request{Kind: approval.Run, Config: runs("sometimes"), CanAsk: true}, policy.Deny, "approval.runs: deny"},
		{"changes are never free", approval.Request{Kind: approval.Apply, Config: apply(approval.Free), CanAsk: true}, policy.Deny, "approval.mode: deny"},
		{"no host asks about runs", approval.Request{Kind: approval.Run, Config: runs(approval.Host), CanAsk: true}, policy.Deny, "approval.runs: deny"},
		{"no host is reached where nothing is said", approval.Request{Kind: approval.Network, CanAsk: true}, policy.Deny, "approval.network: deny"},
		{"hosts are asked about", approval.Request{Kind: approval.Network, Config: network(approval.Ask), CanAsk: true}, policy.Ask, "approval.network: ask"},
		{"hosts without a client that can ask", approval.Request{Kind: approval.Network, Config: network(approval.Ask)}, policy.Deny, "approval.network: ask"},
		{"hosts of a skill that narrows", approval.Request{Kind: approval.Network, Config: network(approval.Ask), Skill: network(approval.Deny), Answered: approval.Always, CanAsk: true}, policy.Deny, "approval.network: deny"},
		{"hosts are never free", approval.Request{Kind: approval.Network, Config: network(approval.Free), CanAsk: true}, policy.Deny, "approval.network: deny"},
		{"an unknown kind", approval.Request{Kind: "fly", CanAsk: true, Answered: approval.Always}, policy.Deny, "approval: unknown"},
		{"no kind", approval.Request{}, policy.Deny, "approval: unknown"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := approval.Decide(test.give)
			if got.Effect != test.want || got.Rule != test.rule {
				t.Errorf("%v by %q, want %v by %q", got.Effect, got.Rule, test.want, test.rule)
			}
			if got.Reason == "" || got.Effect != policy.Allow && got.Hint == "" {
				t.Errorf("no reason, or no way out: %+v", got)
			}
		})
	}
}

// TestStrictest: whatever the others say, none is laxer than the strictest.
func TestStrictest(t *testing.T) {
	t.Parallel()
	order := []policy.Effect{policy.Allow, policy.Ask, policy.Deny}
	all := []approval.Mode{"", approval.Free, approval.Host, approval.Ask, approval.Deny, "else"}
	effect := func(kind approval.Kind, modes ...approval.Mode) policy.Effect {
		of := func(mode approval.Mode) approval.Modes {
			return approval.Modes{Apply: mode, Runs: mode, Reads: mode, Network: mode}
		}
		return approval.Decide(approval.Request{Kind: kind, Config: of(modes[0]), Caller: of(modes[1]), Skill: of(modes[2]), CanAsk: true}).Effect
	}
	for _, kind := range []approval.Kind{approval.Run, approval.Read, approval.Apply, approval.Network} {
		for _, a := range all {
			for _, b := range all {
				for _, c := range all {
					got := slices.Index(order, effect(kind, a, b, c))
					for _, mode := range []approval.Mode{a, b, c} {
						if mode != "" && got < slices.Index(order, effect(kind, mode, "", "")) {
							t.Errorf("%s: %q, %q and %q give %v, which is laxer than %q", kind, a, b, c, order[got], mode)
						}
					}
				}
			}
		}
	}
}

func TestWaysOut(t *testing.T) {
	t.Parallel()
	for kind, way := range map[approval.Kind]string{
		approval.Apply: "skills-mcp apply", approval.Run: "approval.runs: free", approval.Read: "approval.reads: free",
		approval.Network: "skills-mcp grant",
	} {
		ask := approval.Modes{Apply: approval.Ask, Runs: approval.Ask, Reads: approval.Ask, Network: approval.Ask}
		if got := approval.Decide(approval.Request{Kind: kind, Config: ask}); !strings.Contains(got.Hint, way) {
			t.Errorf("%s: the hint does not name %q: %q", kind, way, got.Hint)
		}
	}
}
