package access

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/skills-mcp/skills-mcp/catalog/needs"
	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/policy/approval"
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
	"github.com/skills-mcp/skills-mcp/server/internal/consent"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
)

// Program is what a run runs.
type Program struct {
	// Name is the same text where the same is run again, whatever its arguments.
	Name string
	// Timeout is how long it may take.
	Timeout time.Duration
}

// maxQuestions is how many questions one run may have its user asked.
const maxQuestions = 8

// asking asks the user about hosts that are not granted, while a program waits.
type asking struct {
	ctx   context.Context // of the call
	door  *consent.Door
	skill Skill
	run   consent.Run
	needs func(digest, dir string) (needs.Needs, error)

	mu    sync.Mutex
	asked []Asked
}

// Asked is a host about which the user was asked, or was to be.
type Asked struct {
	Host   string          `json:"host"`
	Answer consent.Outcome `json:"answer"`
	Scope  approval.Scope  `json:"scope,omitempty"`
	Notice string          `json:"notice,omitempty"`

	question consent.Question
}

// notices say to a model how it goes on.
var notices = map[consent.Outcome]string{
	consent.Refused:  "The user, or the client in the user's place, declined. Do not try it again, nor another way to the same end, unless the user asks for it.",
	consent.Canceled: "The user, or the client in the user's place, dismissed the question. Do not try it again, nor another way to the same end, unless the user asks for it.",
	consent.Later: "The user was not asked, since a program cannot wait for that with this client. Where running it twice does no harm, call exec for it again: " +
		"the user is asked before it begins.",
	consent.Unanswered: "The user did not answer while the program could wait. Where running it twice does no harm, call exec for it again: the user is asked before it begins.",
}

// asks reports whether the user is asked about hosts for a skill.
func (a *Access) asks(skill string) bool {
	return a.door != nil && a.holdsHosts() && a.door.Asks(approval.Network, skill)
}

// AskBefore asks what the user was not asked when a program of a skill ran before.
// An error is one for the client: nothing is to be run.
func (a *Access) AskBefore(ctx context.Context, skill Skill, program Program) error {
	if a == nil || skill.Skill == nil || !a.asks(skill.Name) {
		return nil
	}
	return a.door.AskBefore(ctx, consent.Question{Skill: skill.Name, Dir: skill.Place(), Digest: skill.Digest}, program.Name)
}

// newAsking returns nothing where the user is not asked. A program waits for half of
// its time at most, so that what it is told is of use to it.
func (a *Access) newAsking(ctx context.Context, skill Skill, program Program) *asking {
	if !a.asks(skill.Name) {
		return nil
	}
	return &asking{ctx: ctx, door: a.door, skill: skill, needs: a.Needs,
		run: consent.Run{Program: program.Name, Questions: maxQuestions, Wait: program.Timeout / 2}}
}

// ask is [egress.Grant.Ask].
func (q *asking) ask(session context.Context, wanted hosts.Rule) egress.Answer {
	if !askable(wanted) {
		return egress.NotAsked
	}
	ctx, cancel := context.WithCancel(q.ctx)
	defer cancel()
	defer context.AfterFunc(session, cancel)()
	asked := question(q.skill, wanted, q.mentions(wanted.Name()))
	answer := q.door.AskMeanwhile(ctx, asked, &q.run)
	if answer.Outcome == "" {
		return egress.NotAsked
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked = append(q.asked, Asked{wanted.String(), answer.Outcome, answer.Scope, notices[answer.Outcome], asked})
	switch answer.Outcome {
	case consent.Allowed:
		return egress.Yes
	case consent.Refused, consent.Canceled:
		return egress.No
	}
	return egress.NotAsked
}

// all returns what was asked.
func (q *asking) all() []Asked {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.asked)
}

// holds reports whether the user has taken back nothing of what was answered for
// always.
func (q *asking) holds() bool {
	return !slices.ContainsFunc(q.all(), func(asked Asked) bool {
		return asked.Scope == approval.Always && !q.door.Holds(asked.question)
	})
}

// maxAskedName is how long a name may be that a user is asked about: one that can
// be read as a whole, and has room for little else than a name.
const maxAskedName = 80

// askable reports whether a user is asked about a host. Names below no public
// domain are not asked about: they lead to this machine or its network, which is
// granted with its addresses or not at all. Those of others that lead there are
// refused when they are looked up, which is after the answer.
func askable(wanted hosts.Rule) bool {
	suffix, public := publicsuffix.PublicSuffix(wanted.Name())
	private := strings.Contains(suffix, ".") // that of a provider, below a public one
	return len(wanted.Name()) <= maxAskedName && (public || private) && suffix != wanted.Name() &&
		suffix != "onion" && suffix != "arpa" && !strings.HasSuffix(suffix, ".arpa")
}

// mentions says which script of the skill names a host: one that none of them names
// was made up when the program ran, or comes from what it read.
func (q *asking) mentions(host string) string {
	if q.needs == nil {
		return ""
	}
	asked, err := q.needs(q.skill.Digest, q.skill.Copy)
	if err != nil {
		return ""
	}
	at := slices.IndexFunc(asked.Hosts, func(hint needs.Hint) bool { return hint.Name == host })
	if at < 0 {
		return "beware: no script of the skill names this host\n"
	}
	source := asked.Hosts[at].Sources[0]
	return fmt.Sprintf("named by the skill: %s, line %d\n", truncate.To(display.Path(source.File), maxAskedName), source.Line)
}

// question is what a user is asked about a host. What is of the program in it is
// the rule, which holds nothing but a name and a port.
func question(skill Skill, wanted hosts.Rule, mentions string) consent.Question {
	var detail strings.Builder
	fmt.Fprintf(&detail, "host: %s\n", wanted.Name())
	if owner, err := publicsuffix.EffectiveTLDPlusOne(wanted.Name()); err == nil && owner != wanted.Name() {
		fmt.Fprintf(&detail, "belongs to: %s\n", owner)
	}
	if strings.HasPrefix(wanted.Name(), "xn--") || strings.Contains(wanted.Name(), ".xn--") {
		detail.WriteString("beware: the name has letters that are not ASCII (xn--), and may be made to look like another name\n")
	}
	fmt.Fprintf(&detail, "port: %d, %s\n", wanted.Port(), map[hosts.Scheme]string{
		hosts.HTTPS: "with TLS", hosts.HTTP: "without TLS, so that others on the way can read and change what is sent",
	}[wanted.Scheme()])
	detail.WriteString(mentions)
	detail.WriteString("A program of the skill asked for it, and can send it whatever it can read: the skill, the workspace, the project. It gets no secret of yours by this.")
	return consent.Question{
		Kind: approval.Network, Skill: skill.Name, Dir: skill.Place(), Digest: skill.Digest,
		// The host comes first, since a skill chooses its name.
		Title: "Reach " + wanted.String() + " from a program of the skill " + skill.Name + ".", Detail: detail.String(),
		Grant: wanted.String(), Covers: "this host for all programs of this version of the skill",
	}
}
