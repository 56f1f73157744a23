package config

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"

	"github.com/skills-mcp/skills-mcp/internal/envname"
	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/internal/secrets"
)

// Grants are what a skill gets besides its own files, its workspace and the
// project: nothing, unless the user's own files say so. They hold for the skill
// that lies in Root alone.
type Grants struct {
	// Root is a root of skills, or the directory of the skill: absolute or below
	// the home directory ("~/.claude/skills"). It is not empty where anything is
	// granted.
	Root    string
	Network Network
	// Secrets are by the names of the variables in which programs find them.
	Secrets map[string]Secret
	// Packages reports that runs see the packages that were prepared for the
	// skill.
	Packages bool
	// Show are directories and files of this machine, absolute or below the home
	// directory, that programs may read.
	Show []string
	// Pin says what a change of the skill ends: with "digest" all grants, with
	// "name" none; if empty, its secrets.
	Pin string
	// Digest is the version of the skill for which they were given, "sha256:" and
	// 64 hexadecimal digits, or empty.
	Digest string
}

// None reports whether nothing is granted.
func (g *Grants) None() bool {
	return len(g.Network.Hosts) == 0 && len(g.Network.AllowPrivate) == 0 && len(g.Secrets) == 0 && !g.Packages && len(g.Show) == 0
}

// Network is what a skill may reach.
type Network struct {
	Hosts []hosts.Rule
	// AllowPrivate are the private addresses that names of Hosts may lead to.
	AllowPrivate []netip.Prefix
	// MaxBytes is how many bytes, in both directions together, and MaxRequests how
	// many requests and connections a run may have; zero means the default.
	MaxBytes    int64
	MaxRequests int
}

// Secret is a value that programs use without necessarily seeing it.
type Secret struct {
	// Source says where the value is; zero means the server's variable of the same
	// name.
	Source secrets.Source
	// For are the hosts to which it is sent.
	For []hosts.Rule
	// Mode is "masked" or "plain"; empty means masked.
	Mode string
	// Body has it put into bodies of requests too, not into headers alone.
	Body bool
}

// The values of Grants.Pin and Secret.Mode.
const (
	PinDigest = "digest"
	PinName   = "name"
	Masked    = "masked"
	Plain     = "plain"
)

// grantKeys are those of what one skill is granted. No project's file has them.
func grantKeys(g *Grants) group {
	return group{
		{name: "root", value: text(&g.Root, "a path", ownPath), doc: "The root, or the skill's own directory, in which the skill lies that is granted what follows; needed where anything is."},
		{name: "network", doc: "What its programs may reach.", value: networkKeys(&g.Network)},
		{name: "secrets", doc: "Values that its programs use, by the names of their variables.", value: sections[Secret]{
			to: &g.Secrets, fields: secretKeys, check: CheckVariable, means: "sections by names of variables",
		}},
		{name: "packages", value: boolean(&g.Packages), doc: "Show programs the packages that `skills-mcp prepare` has made ready for the skill."},
		{name: "show", value: texts(&g.Show, "paths", textSchema(), ownPath), doc: "Directories and files that its programs may read, absolute or below `~/`."},
		{name: "pin", value: choice(&g.Pin, PinName, PinDigest), doc: "What another version of the skill loses: all of this (`digest`), or nothing (`name`); without a word its secrets."},
		{name: "digest", value: text(&g.Digest, "`sha256:` and 64 hexadecimal digits", digest), doc: "The version of the skill that this was granted to; `skills-mcp grant NAME` writes it."},
	}
}

func networkKeys(n *Network) group {
	return group{
		{name: "hosts", value: hostNames(&n.Hosts), doc: "Hosts."},
		{name: "allowPrivate", value: prefixes(&n.AllowPrivate), doc: "Private addresses to which their names may lead."},
		{name: "maxBytes", value: size(&n.MaxBytes, 1<<10, 1<<40), doc: "How much a run may send and receive, together."},
		{name: "maxRequests", value: integer(&n.MaxRequests, 1, 1_000_000), doc: "How many requests and connections a run may make."},
	}
}

func secretKeys(s *Secret) group {
	return group{
		{name: "source", value: source(&s.Source), doc: "Where the value is; without it, the variable of the same name of the server."},
		{name: "for", value: hostNames(&s.For), doc: "Hosts to which it is sent, and which the skill may reach; needed unless `plain`."},
		{name: "mode", value: choice(&s.Mode, Plain, Masked), doc: "Whether programs see the value (`plain`) or a placeholder, which is replaced on the way to its hosts (`masked`, without a word)."},
		{name: "body", value: boolean(&s.Body), doc: "Replace the placeholder in bodies of requests too, not in their headers alone."},
	}
}

func hostNames(to *[]hosts.Rule) value {
	return list[hosts.Rule]{
		to: to, parse: hosts.Parse, format: func(r hosts.Rule) string { return scalarYAML(r.String()) },
		means: "hosts such as `api.example.com`, `*.example.com`, `http://name` and `name:8443`", item: textSchema(),
		same: func(a, b hosts.Rule) bool { return a == b },
	}
}

// source is where a secret's value is. What is none is not shown: it may be the
// value.
func source(to *secrets.Source) value {
	return scalar[secrets.Source]{
		to: to, tags: []string{tagText}, parse: secrets.Parse, format: func(s secrets.Source) string { return scalarYAML(s.String()) },
		means: "`env:NAME`, `file:PATH`, `command:PROGRAM ARGUMENTS` or `keyring:SERVICE/ACCOUNT`", json: textSchema(),
		wider: func(a, b secrets.Source) bool { return a != b },
	}
}

// prefixes is a list of networks.
func prefixes(to *[]netip.Prefix) value {
	return list[netip.Prefix]{
		to: to, parse: ParsePrefix, format: func(p netip.Prefix) string { return scalarYAML(p.String()) },
		means: "networks such as `10.1.0.0/16`, or addresses", item: textSchema(),
		same: func(a, b netip.Prefix) bool { return a == b },
	}
}

// ParsePrefix reads a network, or an address as the network that it is alone.
func ParsePrefix(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return netip.Prefix{}, fmt.Errorf("%s is no network such as 10.1.0.0/16 or fd00::/8, and no address", quoted(text))
	case prefix != prefix.Masked():
		return netip.Prefix{}, fmt.Errorf("%s has bits beyond its length; write %s", quoted(text), prefix.Masked())
	}
	return prefix, nil
}

var (
	variablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	digestPattern   = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// CheckVariable checks the name of a variable in which a program finds a secret.
func CheckVariable(text string) error {
	switch {
	case !variablePattern.MatchString(text):
		return fmt.Errorf("%s is no name of a variable such as API_KEY", quoted(text))
	case envname.Taken(text):
		return fmt.Errorf("%s is a variable that programs start by; it holds no secret", quoted(text))
	}
	return nil
}

func digest(text string) error {
	if !digestPattern.MatchString(text) {
		return errors.New("is no digest: sha256: and 64 of 0-9 and a-f")
	}
	return nil
}

// grantFaults says which grants lack what they cannot do without.
func grantFaults(skills map[string]Grants, origins map[string]Origin) (faults []Fault) {
	refuse := func(at, format string, args ...any) {
		faults = append(faults, Fault{originOf(origins, at), at + ": " + fmt.Sprintf(format, args...)})
	}
	for _, skill := range sortedKeys(skills) {
		at, section := "skills."+skill, skills[skill]
		if !section.None() && section.Root == "" {
			refuse(at, "lacks root, the directory of the skill that is granted this: a skill of the same name may come from elsewhere")
		}
		for _, name := range sortedKeys(section.Secrets) {
			if secret := section.Secrets[name]; secret.Mode != Plain && len(secret.For) == 0 {
				refuse(at+".secrets."+name, "lacks for, the hosts to which the secret is sent")
			}
		}
	}
	return faults
}
