// Package requirement finds out which programs and modules the scripts of a
// skill need that the sandbox does not have.
//
// It looks into the sandbox itself, with programs of ours that read the scripts
// and run nothing of the skill. What scripts say is trusted with nothing.
package requirement

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/staging"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

const (
	probeTimeout  = 10 * time.Second
	maxProbeBytes = 256 << 10
	// maxKnownSkills is how many versions of skills are remembered.
	maxKnownSkills = 256
)

// Finder finds what is missing, once for each version of a skill. It is safe
// for use by several goroutines.
type Finder struct {
	Sandbox    sandbox.Backend
	Copies     *staging.Copies
	Workspaces *workspace.Access
	// Limits are those of the runs of a skill, which hold for a look too. If nil,
	// the defaults.
	Limits func(skill string) sandbox.Limits
	Log    *slog.Logger

	turn sync.Mutex // whoever probes; the others find it known then

	mu    sync.Mutex
	known map[string][]Missing // by the copy's digest
}

// Known returns what is known to be missing for one version of a skill, and
// whether that was looked for.
func (f *Finder) Known(digest string) (missing []Missing, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	missing, known = f.known[digest]
	return missing, known
}

// OfSkill returns what the sandbox is missing for the programs of a skill, of
// whose files some are given. It returns nothing where that cannot be found
// out in time.
func (f *Finder) OfSkill(ctx context.Context, skill *catalog.Skill, files []contained.Entry) []Missing {
	if !skill.HasTools && len(scriptsOf(skill.Dir, files)) == 0 {
		return nil
	}
	copied, err := f.Copies.Take(ctx, skill.Dir)
	if err != nil {
		f.Log.Debug("what the sandbox is missing is not known", "skill", skill.Name, "error", err)
		return nil
	}
	defer copied.Release()
	return f.OfCopy(ctx, skill, copied)
}

// OfCopy is [Finder.OfSkill] for one version.
func (f *Finder) OfCopy(ctx context.Context, skill *catalog.Skill, copied *staging.Copy) []Missing {
	if missing, known := f.Known(copied.Digest); known {
		return missing
	}
	defer request.Idle(ctx)()
	f.turn.Lock()
	defer f.turn.Unlock()
	if missing, known := f.Known(copied.Digest); known {
		return missing
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	missing, err := f.probe(ctx, skill, copied)
	if err != nil {
		f.Log.Debug("what the sandbox is missing is not known", "skill", skill.Name, "error", err)
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil || len(f.known) >= maxKnownSkills {
		f.known = map[string][]Missing{} // which costs another look
	}
	f.known[copied.Digest] = missing
	return missing
}
