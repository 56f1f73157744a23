// Package hosts has the grammar of granted hosts: what a user writes to let a
// skill's programs reach a server, and what such a rule allows.
//
//	api.example.com         TLS to port 443 of this name
//	*.example.com           the same for every name below example.com, not for it
//	api.example.com:8443    TLS to another port
//	http://api.example.com  HTTP without TLS to port 80; with a port, to that one
//
// Hosts are granted by name only: an address, in whatever form it is written, is
// no name. Names are compared without regard to case; names that are not ASCII
// are kept as they go over the wire ("xn--…").
package hosts

import (
	"net"
	"slices"
	"strconv"
	"strings"
)

// Scheme is what is spoken to a host.
type Scheme string

// The schemes that can be granted.
const (
	HTTPS Scheme = "https" // anything inside of TLS
	HTTP  Scheme = "http"  // HTTP without TLS
)

// DefaultPort returns the port of a scheme that a rule without a port means.
func (s Scheme) DefaultPort() int {
	if s == HTTP {
		return 80
	}
	return 443
}

// Rule allows one scheme to one port of one name, or of all names below it. The
// zero Rule allows nothing. Rules are made by [Parse] and [New], and can be
// compared by ==.
type Rule struct {
	name       string // in lower case, ASCII, without "*."
	subdomains bool   // all names strictly below name, instead of it
	scheme     Scheme
	port       uint16
}

// Parse returns the rule that text says. An error is an [*InvalidError].
func Parse(text string) (Rule, error) {
	rule, reason := parse(text)
	if reason != "" {
		return Rule{}, &InvalidError{Text: text, Reason: reason}
	}
	return rule, nil
}

// New returns the rule for exactly what a program asks for: host is a name as it
// came over the wire. An error is an [*InvalidError].
func New(scheme Scheme, host string, port int) (Rule, error) {
	name, reason := strings.ToLower(host), nameFault(host)
	switch {
	case reason != "":
	case port < 1 || port > 65535:
		reason = "has no port from 1 to 65535"
	case scheme != HTTP && scheme != HTTPS:
		reason = "is neither http nor https"
	default:
		return Rule{name: name, scheme: scheme, port: uint16(port)}, nil
	}
	return Rule{}, &InvalidError{Text: host, Reason: reason}
}

// Covers reports whether the rule allows all that another one does.
func (r Rule) Covers(other Rule) bool {
	switch {
	case r.name == "" || other.name == "" || r.scheme != other.scheme || r.port != other.port:
		return false
	case !r.subdomains:
		return !other.subdomains && other.name == r.name
	case other.subdomains && other.name == r.name:
		return true
	default:
		return strings.HasSuffix(other.name, "."+r.name)
	}
}

// Name is the name in lower case, without the "*." of subdomains.
func (r Rule) Name() string { return r.name }

// Scheme is what the rule allows to speak.
func (r Rule) Scheme() Scheme { return r.scheme }

// Port is from 1 to 65535.
func (r Rule) Port() int { return int(r.port) }

// String returns the shortest text that [Parse] makes the same rule of.
func (r Rule) String() string {
	text := r.name
	if r.subdomains {
		text = "*." + text
	}
	if r.Port() != r.scheme.DefaultPort() {
		text = net.JoinHostPort(text, strconv.Itoa(r.Port()))
	}
	if r.scheme == HTTP {
		text = "http://" + text
	}
	return text
}

// Allow reports whether any of the rules covers another one.
func Allow(rules []Rule, wanted Rule) bool {
	return slices.ContainsFunc(rules, func(rule Rule) bool { return rule.Covers(wanted) })
}
