// Package grants decides which of the things that a user granted to a skill it
// has: hosts, secrets, packages and directories. It is pure, as package policy
// is, and grants nothing that is not configured.
//
// A grant is bound to a skill's name and to where the skill lies, since a skill
// of any name may come with a project, and where that is said to one version of
// its files.
package grants

import (
	"net/netip"
	"slices"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/internal/secrets"
)

// Pin says which grants another version of a skill loses.
type Pin string

// The pins.
const (
	PinSecrets Pin = ""       // its secrets
	PinDigest  Pin = "digest" // all of them
	PinName    Pin = "name"   // none
)

// Configured is what a user granted to the skills of one name.
type Configured struct {
	// Root is the root, or the skill's own directory, for which it holds:
	// absolute and clean. If empty, it holds for none.
	Root string
	Pin  Pin
	// Digest is the version of the skill to which it was granted. If empty, it is
	// none that is known, and what is pinned holds for none.
	Digest string
	Grants
}

// Grants are what the programs of a skill get.
type Grants struct {
	// Hosts are what they may reach, but for those of Secrets.
	Hosts []hosts.Rule
	// AllowPrivate are the private addresses that the hosts may have.
	AllowPrivate []netip.Prefix
	// MaxBytes and MaxRequests bound a run's network; zero means the default.
	MaxBytes    int64
	MaxRequests int
	Secrets     []Secret
	// Packages reports that they see the packages that were prepared.
	Packages bool
	// Show are absolute paths of this machine that they may read.
	Show []string
}

// Secret is a value that programs use.
type Secret struct {
	// Name is that of the variable in which programs find it, and Source where the
	// value is.
	Name   string
	Source secrets.Source
	// Hosts are those to which it is sent, and which the programs may reach
	// therefore.
	Hosts []hosts.Rule
	// Plain has programs see the value itself, instead of a placeholder that is
	// replaced in headers of requests to Hosts, and with Body in bodies too.
	Plain, Body bool
}

// None reports whether there is nothing.
func (g *Grants) None() bool {
	return len(g.Hosts) == 0 && len(g.Secrets) == 0 && !g.Packages && len(g.Show) == 0
}

// Network returns all hosts that may be reached, each once.
func (g *Grants) Network() []hosts.Rule {
	all := slices.Clone(g.Hosts)
	for _, secret := range g.Secrets {
		for _, rule := range secret.Hosts {
			if !slices.Contains(all, rule) {
				all = append(all, rule)
			}
		}
	}
	return all
}

// Skill is what asks for its grants.
type Skill struct {
	// Places are the directories by which Configured.Root may name it: its root's
	// and its own.
	Places []string
	// Digest is its version.
	Digest string
}

// Reason is why something that is configured is not in force.
type Reason string

// The reasons.
const (
	// Elsewhere: it was granted to a skill of that name in another place.
	Elsewhere Reason = "elsewhere"
	// Changed: it was granted to another version of the skill.
	Changed Reason = "changed"
	// Unpinned: it is pinned, and not said to which version.
	Unpinned Reason = "unpinned"
)

// Effective is what a skill has.
type Effective struct {
	Grants
	// Withheld is what it would have, but for Reason; if that is empty, nothing.
	Withheld Grants
	Reason   Reason
}

// Decide returns what a skill has of what is configured for its name.
func Decide(configured Configured, skill Skill) Effective {
	if configured.None() {
		return Effective{}
	}
	if configured.Root == "" || !slices.Contains(skill.Places, configured.Root) {
		return Effective{Withheld: configured.Grants, Reason: Elsewhere}
	}
	reason := Reason("")
	switch {
	case configured.Pin == PinName, configured.Pin == PinSecrets && len(configured.Secrets) == 0, configured.Digest == skill.Digest && skill.Digest != "":
		return Effective{Grants: configured.Grants}
	case configured.Digest == "":
		reason = Unpinned
	default:
		reason = Changed
	}
	if configured.Pin != PinSecrets { // what is not known pins all
		return Effective{Withheld: configured.Grants, Reason: reason}
	}
	left := configured.Grants
	left.Secrets = nil
	return Effective{Grants: left, Withheld: Grants{Secrets: configured.Secrets}, Reason: reason}
}

// Within reports whether others have all that these are, for as long as a run
// goes on: its hosts and secrets.
func (g *Grants) Within(others *Grants) bool {
	rules := others.Network()
	if slices.ContainsFunc(g.Network(), func(rule hosts.Rule) bool { return !hosts.Allow(rules, rule) }) {
		return false
	}
	for _, private := range g.AllowPrivate {
		if !slices.ContainsFunc(others.AllowPrivate, func(other netip.Prefix) bool {
			return other.Bits() <= private.Bits() && other.Contains(private.Addr())
		}) {
			return false
		}
	}
	for _, secret := range g.Secrets {
		if !slices.ContainsFunc(others.Secrets, secret.within) {
			return false
		}
	}
	return true
}

// within reports whether a secret is granted as far by another grant of it.
func (s Secret) within(other Secret) bool {
	return s.Name == other.Name && s.Source == other.Source && (!s.Plain || other.Plain) && (!s.Body || other.Body) &&
		!slices.ContainsFunc(s.Hosts, func(rule hosts.Rule) bool { return !hosts.Allow(other.Hosts, rule) })
}
