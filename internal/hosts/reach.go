package hosts

import (
	"slices"
	"strings"
)

// Reach is where a name can lead by what it is called.
type Reach int

// The reaches.
const (
	Anywhere       Reach = iota
	PrivateNetwork       // a name that only a private network, or this machine, has
	OwnLoopback          // localhost, which is whoever asks for it
	Nowhere              // a name that no network has
)

var (
	// privateDomains are kept for private networks, or used there and nowhere else.
	privateDomains = []string{"local", "internal", "home.arpa", "lan", "home", "corp", "intranet", "private", "localdomain", "test"}
	// emptyDomains are kept for what is no host of the network.
	emptyDomains = []string{"invalid", "example", "onion", "alt"}
)

// Reach returns where names that the rule allows can lead.
func (r Rule) Reach() Reach {
	switch {
	case r.within("localhost"):
		return OwnLoopback
	case slices.ContainsFunc(emptyDomains, r.within):
		return Nowhere
	case !r.subdomains && !strings.Contains(r.name, "."), slices.ContainsFunc(privateDomains, r.within):
		return PrivateNetwork
	}
	return Anywhere
}

// within reports whether the name is a domain or lies below it.
func (r Rule) within(domain string) bool {
	return r.name == domain || strings.HasSuffix(r.name, "."+domain)
}
