package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog/needs"
	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/internal/lazyregexp"
	"github.com/skills-mcp/skills-mcp/internal/shellword"
	"github.com/skills-mcp/skills-mcp/policy/grants"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
)

// maxNamed is how many hosts, and how many variables, a text names that a skill
// is not granted.
const maxNamed = 8

// secretName is what a variable is called that holds a secret.
var secretName = lazyregexp.New(`(?i)(^|_)((api|access|secret)?_?key|secret|token|password|credentials?)$`)

// Text says what a skill is granted, and what its files ask for and it is not
// granted: lines, or nothing. What they ask for is a hint and no more.
func (a *Access) Text(skill Skill, asked needs.Needs) string {
	effective, err := a.Of(skill.Skill, skill.Digest)
	var text strings.Builder
	if err != nil {
		fmt.Fprintln(&text, unknownGrants)
	}
	if granted := a.grantedText(&effective.Grants); granted != "" {
		fmt.Fprintf(&text, "Granted by the user: %s.\n", granted)
	}
	for _, sentence := range []string{withheldText(skill.Name, effective), a.closedText(&effective.Grants)} {
		if sentence != "" {
			fmt.Fprintln(&text, sentence)
		}
	}
	text.WriteString(a.lackedText(skill.Name, &effective.Grants, asked))
	return text.String()
}

// grantedText lists what programs have.
func (a *Access) grantedText(g *grants.Grants) string {
	var all []string
	if rules := g.Network(); len(rules) > 0 && a.holdsHosts() {
		all = append(all, "programs reach "+join(rules)+" and nothing else of the network")
	}
	for _, secret := range g.Secrets {
		switch {
		case secret.Plain:
			all = append(all, "$"+secret.Name+" is a secret: do not print it")
		case a.holdsHosts():
			all = append(all, fmt.Sprintf("$%s is a placeholder, to be sent as it is, which becomes the secret on the way to %s", secret.Name, join(secret.Hosts)))
		}
	}
	if len(g.Show) > 0 {
		all = append(all, "programs may read "+strings.Join(g.Show, ", "))
	}
	return strings.Join(all, "; ")
}

// Lacked returns the hosts and the variables that files ask for and that are not
// granted.
func Lacked(g *grants.Grants, asked needs.Needs) (unreached, unset []string) {
	rules := g.Network()
	for _, hint := range asked.Hosts {
		wanted, err := hosts.New(hosts.HTTPS, hint.Name, hosts.HTTPS.DefaultPort())
		if err == nil && !hosts.Allow(rules, wanted) {
			unreached = append(unreached, wanted.String())
		}
	}
	for _, hint := range asked.Variables {
		granted := slices.ContainsFunc(g.Secrets, func(s grants.Secret) bool { return s.Name == hint.Name })
		if !granted && (hint.Declared || secretName().MatchString(hint.Name)) {
			unset = append(unset, hint.Name)
		}
	}
	return few(unreached), few(unset)
}

// lackedText says what is [Lacked], and how it would be granted.
func (a *Access) lackedText(skill string, g *grants.Grants, asked needs.Needs) string {
	var all, flags []string
	unreached, unset := Lacked(g, asked)
	if len(unreached) > 0 {
		all, flags = append(all, "the hosts "+strings.Join(unreached, ", ")), append(flags, " --host HOST")
	}
	if len(unset) > 0 {
		all, flags = append(all, "the variables "+strings.Join(unset, ", ")), append(flags, " --secret VARIABLE --for HOST")
	}
	if len(all) == 0 {
		return ""
	}
	if len(unreached) > 0 && a.asks(skill) {
		all[0] += " (which programs may try all the same: the user is asked where the client can ask)"
	}
	return fmt.Sprintf("Not granted, though its files name them: %s. Where the task needs one, tell the user, who can grant it with 'skills-mcp grant %s%s'.\n",
		strings.Join(all, ", and "), shellword.Name(skill), strings.Join(flags, ""))
}

// few returns the first of names that others chose, as they are shown.
func few(names []string) (shown []string) {
	for _, name := range names[:min(len(names), maxNamed)] {
		shown = append(shown, display.Line(name))
	}
	if more := len(names) - maxNamed; more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return shown
}
