package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/internal/shellword"
	"github.com/skills-mcp/skills-mcp/policy/grants"
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/packages"
)

// ReportSchema describes the properties of a [Report].
const ReportSchema = `"granted": {"type": "object", "description": "What the user has granted to the skill; absent where that is nothing.", "properties": {
      "network": {"type": "array", "items": {"type": "string"}, "description": "Hosts that the program could reach; it could reach nothing else."},
      "secrets": {"type": "array", "items": {"type": "string"}, "description": "Variables that hold placeholders, which are replaced on the way to the hosts of each secret."},
      "plainSecrets": {"type": "array", "items": {"type": "string"}, "description": "Variables that hold the values of secrets themselves."},
      "packages": {"type": "string", "description": "Digest of the prepared packages that the program saw."},
      "show": {"type": "array", "items": {"type": "string"}, "description": "Further directories and files that the program could read."},
      "withheld": {"type": "array", "items": {"type": "string"}, "description": "What is granted and was not in force, why, and what the user can do about it."}
    }},
    "asked": {"type": "array", "description": "Hosts that are not granted, about which the user was asked; absent where there are none.", "items": {"type": "object", "properties": {
      "host": {"type": "string"},
      "answer": {"type": "string", "enum": ["allowed", "declined", "canceled", "unanswered", "later"], "description": "later: the user is asked when the same is run again."},
      "scope": {"type": "string", "enum": ["once", "session", "always"], "description": "For how long it is allowed."},
      "notice": {"type": "string", "description": "What to do next where it was not allowed."}
    }, "required": ["host", "answer"]}},
    "used": {"type": "object", "description": "What the program asked the network for; absent where that is nothing.", "properties": {
      "hosts": {"type": "array", "items": {"type": "object", "properties": {
        "host": {"type": "string"}, "port": {"type": "integer"},
        "requests": {"type": "integer", "description": "Requests, or connections, that were let through."},
        "refused": {"type": "integer"}, "reason": {"type": "string", "description": "Why the last one was refused."},
        "bytes": {"type": "integer", "description": "Sent and received."}
      }, "required": ["host", "port", "requests", "refused", "bytes"]}},
      "hostsOmitted": {"type": "integer", "description": "How many requests more there were, for further hosts."},
      "secrets": {"type": "array", "items": {"type": "string"}, "description": "Secrets whose values were sent to their hosts."}
    }, "required": ["hosts"]}`

// Report is what a run's result says of what it was granted.
type Report struct {
	Granted *Granted `json:"granted,omitempty"`
	Asked   []Asked  `json:"asked,omitempty"`
	Used    *Used    `json:"used,omitempty"`

	skill string
}

// Granted is what a run had.
type Granted struct {
	Network      []string `json:"network,omitempty"`
	Secrets      []string `json:"secrets,omitempty"`
	PlainSecrets []string `json:"plainSecrets,omitempty"`
	Packages     string   `json:"packages,omitempty"`
	Show         []string `json:"show,omitempty"`
	// Withheld are sentences.
	Withheld []string `json:"withheld,omitempty"`
}

// Used is what a run used.
type Used struct {
	Hosts        []UsedHost `json:"hosts"`
	HostsOmitted int        `json:"hostsOmitted,omitempty"`
	Secrets      []string   `json:"secrets,omitempty"`
}

// UsedHost is what became of one host.
type UsedHost struct {
	Host     string        `json:"host"`
	Port     int           `json:"port"`
	Requests int           `json:"requests"`
	Refused  int           `json:"refused"`
	Reason   egress.Reason `json:"reason,omitempty"`
	Bytes    int64         `json:"bytes"`
	wanted   hosts.Rule    // what would grant it, if anything
}

// Report returns what a run had and used. The run is closed.
func (r *Run) Report() Report {
	if r == nil {
		return Report{}
	}
	report := Report{skill: r.skill.Name, Asked: r.asking.all()}
	if granted := r.granted(); !granted.empty() {
		report.Granted = &granted
	}
	if r.session != nil {
		report.Used = used(r.session.Usage())
	}
	return report
}

// Granted returns what a run of a skill would have now of what is granted to it.
func (a *Access) Granted(skill Skill) Granted {
	if a == nil {
		return Granted{}
	}
	effective, err := a.Of(skill.Skill, skill.Digest)
	run := &Run{access: a, skill: skill, effective: effective, unknown: err != nil, packages: a.Packages(skill)}
	return run.granted()
}

func (g Granted) empty() bool {
	return len(g.Network)+len(g.Secrets)+len(g.PlainSecrets)+len(g.Show)+len(g.Withheld) == 0 && g.Packages == ""
}

// granted says what the run had of what is configured.
func (r *Run) granted() Granted {
	granted := Granted{Withheld: r.withheld(), Show: slices.Clone(r.effective.Show)}
	if r.access.holdsHosts() {
		for _, rule := range r.effective.Network() {
			granted.Network = append(granted.Network, rule.String())
		}
	}
	for _, secret := range r.effective.Secrets {
		switch {
		case secret.Plain:
			granted.PlainSecrets = append(granted.PlainSecrets, secret.Name)
		case r.access.holdsHosts():
			granted.Secrets = append(granted.Secrets, secret.Name)
		}
	}
	if r.packages != nil {
		granted.Packages = r.packages.Key
	}
	return granted
}

// withheld says what of it was not in force.
func (r *Run) withheld() (sentences []string) {
	if r.unknown {
		sentences = append(sentences, unknownGrants)
	}
	if sentence := withheldText(r.skill.Name, r.effective); sentence != "" {
		sentences = append(sentences, sentence)
	}
	if sentence := r.access.closedText(&r.effective.Grants); sentence != "" {
		sentences = append(sentences, sentence)
	}
	if r.effective.Packages && r.packages == nil {
		sentences = append(sentences, r.access.notPrepared(r.skill.Name))
	}
	if r.revoked {
		sentences = append(sentences, "The user took part of it back while the program ran, which ended its network.")
	}
	return sentences
}

const unknownGrants = "What the user has granted cannot be read, so nothing of it is in force: 'skills-mcp grants' says why."

func (a *Access) notPrepared(skill string) string {
	return "Its packages are not prepared, for this version of it: the user can do that with '" + packages.Command(skill, a.backend.Info().Backend) + "'."
}

// withheldText says why something is not in force for a skill as it is.
func withheldText(skill string, effective grants.Effective) string {
	if effective.Reason == "" {
		return ""
	}
	what := names(&effective.Withheld)
	switch effective.Reason {
	case grants.Elsewhere:
		return fmt.Sprintf("Not in force: %s. That is granted to a skill of this name in another directory.", what)
	case grants.Changed:
		return fmt.Sprintf("Not in force: %s. The skill has changed since that was granted; the user looks at it and confirms with 'skills-mcp grant %s'.", what, shellword.Name(skill))
	}
	return fmt.Sprintf("Not in force: %s. That is granted to one version of the skill, and it is not said which; 'skills-mcp grant %s' says it.", what, shellword.Name(skill))
}

// names lists what is granted.
func names(g *grants.Grants) string {
	var all []string
	if len(g.Hosts) > 0 {
		all = append(all, "hosts "+join(g.Hosts))
	}
	for _, secret := range g.Secrets {
		all = append(all, "the secret "+secret.Name)
	}
	if g.Packages {
		all = append(all, "packages")
	}
	if len(g.Show) > 0 {
		all = append(all, "directories to read")
	}
	return strings.Join(all, ", ")
}

func join(rules []hosts.Rule) string {
	texts := make([]string, len(rules))
	for i, rule := range rules {
		texts[i] = rule.String()
	}
	return strings.Join(texts, ", ")
}

// closedText says why what is granted of the network is of no use in this
// sandbox, or nothing.
func (a *Access) closedText(g *grants.Grants) string {
	rules := g.Network()
	if len(rules) == 0 || a.holdsHosts() {
		return ""
	}
	info := a.backend.Info()
	if !info.Runs() {
		return ""
	}
	if info.Network {
		return fmt.Sprintf("The sandbox %s (tier %s) does not keep programs from the network, so that the hosts that are granted bound nothing, and secrets that are masked are withheld.",
			info.Backend, info.Tier)
	}
	return fmt.Sprintf("The network is closed: the sandbox %s (tier %s) cannot hold a list of hosts, so that %s cannot be reached, and secrets that are masked are withheld.",
		info.Backend, info.Tier, join(rules))
}

// used returns what was used, or nil for nothing.
func used(usage egress.Usage) *Used {
	if len(usage.Hosts) == 0 && usage.Omitted == 0 {
		return nil
	}
	u := &Used{Hosts: []UsedHost{}, HostsOmitted: usage.Omitted, Secrets: usage.Secrets}
	for _, host := range usage.Hosts {
		u.Hosts = append(u.Hosts, UsedHost{
			Host: display.Line(host.Host), Port: host.Port, Requests: host.Requests, Refused: host.Refused, Reason: host.Reason, Bytes: host.Bytes,
			wanted: host.Wanted,
		})
	}
	return u
}
