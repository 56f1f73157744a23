//go:build amd64 || arm64

package local

import (
	"context"
	"slices"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
)

// showCopies has the runner show shares as copies where they cannot be mounted:
// in the tier [Restricted], and in the other in their place where the kernel has
// no overlays, or none for a share.
func (s *system) showCopies(runner *process.Runner) {
	s.isCopy = runner.IsCopy
	copies := process.Copies{Needed: s.needsCopies}
	if s.tier == Full {
		copies.InTheirPlace = true
		copies.Refuse = func(share sandbox.Share) string {
			if s.layout.wouldHide(share) {
				return inTheWay
			}
			return ""
		}
	} else {
		copies.InPlace = s.inPlace
	}
	if s.asNobody {
		copies.User = nobody
	}
	runner.ShowCopies(copies)
}

func (s *system) needsCopies(_ context.Context, spec sandbox.Spec) bool {
	return s.tier != Full || !s.private || slices.ContainsFunc(spec.Shares, func(share sandbox.Share) bool {
		_, known := s.unmountable.Load(share.Path)
		return known
	})
}
