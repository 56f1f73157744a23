// Package requirement finds out which programs and modules the scripts of a
// skill need that the sandbox does not have.
//
// It looks into the sandbox itself, with programs of ours that read the scripts
// and run nothing of the skill. What scripts say is trusted with nothing.
package requirement

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/staging"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
	"github.com/skills-mcp/skills-mcp/server/internal/access"
	"github.com/skills-mcp/skills-mcp/server/internal/packages"
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
	// Access and Packages know what skills ask for and have of packages; nil for
	// none.
	Access   *access.Access
	Packages *packages.Access
	// Limits are those of the runs of a skill, which hold for a look too. If nil,
	// the defaults.
	Limits func(skill string) sandbox.Limits
	Log    *slog.Logger

	turn sync.Mutex // whoever probes; the others find it known then

	mu    sync.Mutex
	known map[string][]Missing // by the copy's digest, and its packages
}

// Known returns what is known to be missing for one version of a skill, and
// whether that was looked for.
func (f *Finder) Known(skill *catalog.Skill, copied *staging.Copy) (missing []Missing, known bool) {
	return f.lookUp(keyOf(copied, f.prepared(skill, copied)))
}

func (f *Finder) lookUp(key string) (missing []Missing, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	missing, known = f.known[key]
	return missing, known
}

// prepared returns the packages that programs of a skill have, or nil.
func (f *Finder) prepared(skill *catalog.Skill, copied *staging.Copy) *environments.Environment {
	if f.Access == nil {
		return nil
	}
	return f.Access.Packages(access.Skill{Skill: skill, Digest: copied.Digest, Copy: copied.Dir})
}

// keyOf says on what it depends what is missing.
func keyOf(copied *staging.Copy, has *environments.Environment) string {
	if has == nil {
		return copied.Digest
	}
	return copied.Digest + " " + has.Key
}

// prepares reports whether the user can have packages prepared that programs see:
// what is on this machine is not in a container that others are paid for.
func (f *Finder) prepares() bool { return f.Packages.Prepares() && !f.Sandbox.Info().Costly }

// npm is the program that prepares packages of npm, in the sandbox.
const npm = "npm"

// installers returns what preparing the packages of a version of a skill needs in
// the sandbox.
func (f *Finder) installers(copied *staging.Copy) []program {
	if !f.prepares() {
		return nil
	}
	asked, err := f.Packages.Needs(copied.Digest, copied.Dir)
	if err != nil || len(asked.Npm) == 0 || len(asked.Npm[0].Sources) == 0 {
		return nil
	}
	return []program{{script: asked.Npm[0].Sources[0].File, tool: true, starters: []string{npm}}}
}

// PackagesOf says which packages a version of a skill asks for and has, or nothing.
func (f *Finder) PackagesOf(ctx context.Context, skill *catalog.Skill, copied *staging.Copy) string {
	if !f.prepares() {
		return ""
	}
	asked, err := f.Packages.Needs(copied.Digest, copied.Dir)
	if err != nil {
		f.Log.Debug("what a skill asks for is not known", "skill", skill.Name, "error", err)
		return ""
	}
	has := f.prepared(skill, copied)
	text := packages.Text(skill.Name, f.Sandbox.Info().Backend, asked, has)
	if has != nil || len(asked.Npm) == 0 {
		return text
	}
	if slices.ContainsFunc(f.OfCopy(ctx, skill, copied), func(m Missing) bool { return m.kind == programKind && m.name == npm }) {
		text += " The sandbox has no npm, without which those of npm cannot be prepared: that command tells the user what to do about it."
	}
	return text
}

// Remedy says how packages that are missing can be had, or nothing: where the
// skill asks for packages and none are prepared. A program that failed may have
// said itself that it lacks one.
func (f *Finder) Remedy(skill *catalog.Skill, copied *staging.Copy, missing []Missing, said bool) string {
	if !f.prepares() || !said && !slices.ContainsFunc(missing, Missing.isPackage) || f.prepared(skill, copied) != nil {
		return ""
	}
	asked, err := f.Packages.Needs(copied.Digest, copied.Dir)
	if err != nil || !asked.Packages() {
		return ""
	}
	return packages.Remedy(skill.Name, f.Sandbox.Info().Backend)
}

// OfSkill returns what the sandbox is missing for the programs of a skill, of
// whose files some are given. It returns nothing where that cannot be found
// out in time, or where that would cost money.
func (f *Finder) OfSkill(ctx context.Context, skill *catalog.Skill, files []contained.Entry) []Missing {
	if f.Sandbox.Info().Costly || !skill.HasTools && len(scriptsOf(skill.Dir, files)) == 0 {
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
	if f.Sandbox.Info().Costly {
		return nil
	}
	has := f.prepared(skill, copied)
	key := keyOf(copied, has)
	if missing, known := f.lookUp(key); known {
		return missing
	}
	defer request.Idle(ctx)()
	f.turn.Lock()
	defer f.turn.Unlock()
	if missing, known := f.lookUp(key); known {
		return missing
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	missing, err := f.probe(ctx, skill, copied, has)
	if err != nil {
		f.Log.Debug("what the sandbox is missing is not known", "skill", skill.Name, "error", err)
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil || len(f.known) >= maxKnownSkills {
		f.known = map[string][]Missing{} // which costs another look
	}
	f.known[key] = missing
	return missing
}
