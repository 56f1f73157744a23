package granted

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/config"
	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/internal/secrets"
	"github.com/skills-mcp/skills-mcp/internal/shellword"
)

// Lines say what is granted, one thing a line.
func Lines(g config.Grants) (lines []string) {
	if len(g.Network.Hosts) > 0 {
		lines = append(lines, "hosts "+joined(g.Network.Hosts))
	}
	if len(g.Network.AllowPrivate) > 0 {
		lines = append(lines, "private addresses "+joined(g.Network.AllowPrivate))
	}
	for _, name := range slices.Sorted(maps.Keys(g.Secrets)) {
		lines = append(lines, secretLine(name, g.Secrets[name]))
	}
	if g.Packages {
		lines = append(lines, "packages, as 'skills-mcp prepare' makes them ready")
	}
	for _, path := range g.Show {
		lines = append(lines, "reads "+path)
	}
	return lines
}

// Doubts say of which hosts, granted to a skill, nothing is reached, and what helps.
func Doubts(skill string, g config.Grants) (doubts []string) {
	rules := g.Network.Hosts
	for _, name := range slices.Sorted(maps.Keys(g.Secrets)) {
		rules = union(rules, g.Secrets[name].For)
	}
	for _, rule := range rules {
		switch reach := rule.Reach(); {
		case reach == hosts.OwnLoopback:
			doubts = append(doubts, fmt.Sprintf("%s is the program's own network, and not this machine; grant another name that this machine has, and its address with --allow-private", rule))
		case reach == hosts.Nowhere:
			doubts = append(doubts, fmt.Sprintf("%s is in no network, so that nothing will be reached there", rule))
		case reach == hosts.PrivateNetwork && len(g.Network.AllowPrivate) == 0:
			doubts = append(doubts, fmt.Sprintf("%s has private addresses alone, which are refused (but where a proxy of yours looks it up); 'skills-mcp grant %s --allow-private NETWORK' allows them",
				rule, shellword.Name(skill)))
		}
	}
	return doubts
}

func secretLine(name string, secret config.Secret) string {
	line := "secret " + name + " from " + sourceOf(name, secret).String()
	switch {
	case secret.Mode == config.Plain && len(secret.For) > 0:
		line += ", which programs see, and " + joined(secret.For)
	case secret.Mode == config.Plain:
		line += ", which programs see"
	case secret.Body:
		line += ", in headers and bodies for " + joined(secret.For)
	default:
		line += ", in headers for " + joined(secret.For)
	}
	return line
}

func sourceOf(name string, secret config.Secret) secrets.Source {
	if secret.Source == (secrets.Source{}) {
		return secrets.Environment(name)
	}
	return secret.Source
}

func texts[T fmt.Stringer](list []T) (texts []string) {
	for _, each := range list {
		texts = append(texts, each.String())
	}
	return texts
}

func joined[T fmt.Stringer](list []T) string { return strings.Join(texts(list), ", ") }

// ends says for how long it is granted.
func ends(g config.Grants) string {
	version := "no version that is known"
	if g.Digest != "" {
		version = "the version " + terminal.Shorten(g.Digest, 20)
	}
	switch {
	case g.Pin == config.PinName || g.Pin == "" && len(g.Secrets) == 0:
		return "whatever its version"
	case g.Pin == config.PinDigest:
		return "to " + version
	}
	return "secrets to " + version
}

// Entry is what one skill is granted, as a list of JSON has it.
type Entry struct {
	Kind  string `json:"kind"` // "granted"
	Skill string `json:"skill"`
	Root  string `json:"root"`
	// From is where it stands.
	From         string        `json:"from"`
	Hosts        []string      `json:"hosts,omitempty"`
	AllowPrivate []string      `json:"allowPrivate,omitempty"`
	Secrets      []SecretEntry `json:"secrets,omitempty"`
	Packages     bool          `json:"packages,omitempty"`
	Show         []string      `json:"show,omitempty"`
	Pin          string        `json:"pin,omitempty"`
	Digest       string        `json:"digest,omitempty"`

	grants config.Grants
}

// SecretEntry is a secret of an [Entry].
type SecretEntry struct {
	Name   string   `json:"name"`
	Source string   `json:"source"`
	For    []string `json:"for,omitempty"`
	Mode   string   `json:"mode"`
	Body   bool     `json:"body,omitempty"`
}

// List returns what skills are granted, by their names.
func List(s *settings.Settings) (list []Entry) {
	for _, name := range slices.Sorted(maps.Keys(s.Skills)) {
		g := s.Skills[name].Grants
		if g.None() {
			continue
		}
		entry := Entry{
			Kind: "granted", Skill: name, Root: g.Root, From: s.Origin("skills." + name).String(), Hosts: texts(g.Network.Hosts),
			AllowPrivate: texts(g.Network.AllowPrivate), Packages: g.Packages, Show: g.Show, Pin: g.Pin, Digest: g.Digest, grants: g,
		}
		for _, variable := range slices.Sorted(maps.Keys(g.Secrets)) {
			secret := g.Secrets[variable]
			entry.Secrets = append(entry.Secrets, SecretEntry{
				Name: variable, Source: sourceOf(variable, secret).String(), For: texts(secret.For), Mode: cmp.Or(secret.Mode, config.Masked), Body: secret.Body,
			})
		}
		list = append(list, entry)
	}
	return list
}

// Write writes the entry for people.
func (e Entry) Write(out io.Writer) {
	fmt.Fprintf(out, "%s  granted\n", terminal.Printable(e.Skill))
	for _, line := range Lines(e.grants) {
		fmt.Fprintf(out, "    %s\n", terminal.Printable(line))
	}
	for _, doubt := range Doubts(e.Skill, e.grants) {
		fmt.Fprintf(out, "    but %s\n", terminal.Printable(doubt))
	}
	fmt.Fprintf(out, "    in %s, %s\n    from %s\n", terminal.Printable(e.Root), ends(e.grants), terminal.Printable(e.From))
}
