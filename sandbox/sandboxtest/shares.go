package sandboxtest

import (
	"runtime"
	"slices"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Shares is what a backend promises of [sandbox.Spec.Shares].
type Shares struct {
	// Most is the most access that it gives, in a place where it can.
	Most sandbox.Access
	// Elsewhere reports that programs see a share at another path than its own.
	Elsewhere bool
	// Discards reports that programs can change some of what they may only read,
	// which is a copy: the next run sees nothing of that.
	Discards bool
	// Copies reports that programs change a copy, of which what is removed counts
	// only once the run is over.
	Copies bool
	// Sent reports that a copy is sent elsewhere, and what is another there comes
	// back: directories have no times of their own, and one that was replaced is
	// one from which everything was removed.
	Sent bool
	// Brief has less tried in the same way with other values, for backends whose
	// programs take long to start, and where another test tries them all.
	Brief bool
	// Text reports that the path of a share has to be UTF-8.
	Text bool
}

// RunShares runs the part of the suite that is about directories of the user,
// such as the project. Its last word after every run is that nothing in them has
// changed, by a byte, a mode, a time, a link or an attribute.
func RunShares(t *testing.T, open func(testing.TB) sandbox.Backend, promise Shares, except ...Exclusion) {
	if runtime.GOOS != "linux" {
		t.Skip("there are no shares on this system")
	}
	f := &fixture{open: open, shares: promise}
	f.backend = f.openAnother(t)
	f.runAll(t, slices.DeleteFunc(shares(), func(c contract) bool {
		return c.review && promise.Most != sandbox.AccessReview
	}), except)
}

// some returns all values that are to be tried, or the first few.
func some[T any](f *fixture, all []T) []T {
	if f.shares.Brief {
		return all[:min(3, len(all))]
	}
	return all
}

// rounds is how often something is tried that depends on the moment.
func (f *fixture) rounds(most int) int {
	if f.shares.Brief {
		return most / 10
	}
	return most
}
