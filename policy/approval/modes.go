package approval

import (
	"slices"
)

// Mode is what the operator wants to be done about a kind.
type Mode string

// The modes, from the laxest on.
const (
	Free Mode = "free" // allowed at once; for runs and reads
	Host Mode = "host" // the host's own prompt for the tool is the consent; for changes
	Ask  Mode = "ask"  // the server asks the user
	Deny Mode = "deny" // not at all
)

// strictness has the modes that are known, the laxest first.
var strictness = []Mode{Free, Host, Ask, Deny}

// allowed are the modes that a kind can have. [Free] is none for changes, which
// somebody always has to consent to.
var allowed = map[Kind][]Mode{
	Run:   {Free, Ask, Deny},
	Read:  {Free, Ask, Deny},
	Apply: {Host, Ask, Deny},
	// A host that nobody consented to is never reached.
	Network: {Ask, Deny},
}

// Modes are what somebody says about each kind. An empty mode says nothing.
type Modes struct {
	// Apply is [Host], [Ask] or [Deny].
	Apply Mode
	// Runs and Reads are [Free], [Ask] or [Deny].
	Runs, Reads Mode
	// Network is [Ask] or [Deny].
	Network Mode
}

// defaults are the modes of which nothing is said.
var defaults = Modes{Apply: Ask, Runs: Free, Reads: Free, Network: Deny}

// of returns the mode of a kind.
func (m Modes) of(kind Kind) Mode {
	switch kind {
	case Run:
		return m.Runs
	case Read:
		return m.Reads
	case Apply:
		return m.Apply
	case Network:
		return m.Network
	}
	return Deny
}

// strictest returns the strictest mode that is said of a kind, or the default.
// One that the kind cannot have is [Deny].
func strictest(kind Kind, said ...Modes) (strictest Mode) {
	for _, modes := range said {
		mode := modes.of(kind)
		switch {
		case mode == "":
		case !slices.Contains(allowed[kind], mode):
			return Deny
		case slices.Index(strictness, mode) > slices.Index(strictness, strictest):
			strictest = mode
		}
	}
	if strictest == "" {
		return defaults.of(kind)
	}
	return strictest
}
