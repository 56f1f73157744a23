// Package access has the runs of a skill get what its user granted to it, and
// says what of it they used: hosts, secrets, packages and directories.
//
// What is granted is looked up for each run, and again while it goes on: what the
// user takes back is gone at once. Runs of skills that are granted nothing get
// nothing from here, and pay nothing for it.
package access

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/catalog/needs"
	"github.com/skills-mcp/skills-mcp/internal/secrets"
	"github.com/skills-mcp/skills-mcp/policy/grants"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
	"github.com/skills-mcp/skills-mcp/server/internal/consent"
)

// Options are where what is granted comes from. In their zero value nothing is
// granted to any skill.
type Options struct {
	// Configured returns what the user granted to the skills of a name, as it is
	// at that moment. An error is why that cannot be known. It is called by several
	// goroutines.
	Configured func(skill string) (grants.Configured, error)
	// Secrets reads values. Needed where Configured is set.
	Secrets *secrets.Store
	// Environ is that of the server, which may name a proxy through which to go
	// out: as of os.Environ.
	Environ []string
	// Resolver looks hosts up. If nil, it is the system's.
	Resolver egress.Resolver
	// Prepared returns the packages that were prepared for a version of a skill,
	// of which there is a copy in that directory, or an error that wraps
	// [environments.ErrNotPrepared]. If nil, there are none.
	Prepared func(digest, dir string) (*environments.Environment, error)
	// Needs returns what the files of a version of a skill ask for, of which there
	// is a copy in that directory. If nil, nothing is known of it.
	Needs func(digest, dir string) (needs.Needs, error)
	// CheckShow returns the path, without links, of what a grant has shown, or why
	// programs must not read it. If nil, nothing is shown.
	CheckShow func(path string) (string, error)
	// NetworkLog, if set, is called with all that the programs of a skill ask the
	// network for, also where nothing of it is granted. It must not block.
	NetworkLog func(skill string, event egress.Event)
}

// Access hands out what is granted. It is safe for use by several goroutines.
type Access struct {
	Options
	catalog *catalog.Catalog
	backend sandbox.Backend
	door    *consent.Door // nil where nobody is asked
	log     *slog.Logger
	trust   trust
	proxy   func() (*egress.Proxy, error)
}

// New returns the access to what is granted to the skills of a catalog, whose
// programs the backend runs. What else they may reach is asked at the door.
// The caller closes it.
func New(options Options, from *catalog.Catalog, backend sandbox.Backend, door *consent.Door, log *slog.Logger) *Access {
	a := &Access{Options: options, catalog: from, backend: backend, door: door, log: log}
	a.proxy = sync.OnceValues(func() (*egress.Proxy, error) {
		return egress.New(egress.Options{Logger: log, Environ: options.Environ, Resolver: options.Resolver})
	})
	return a
}

// Close removes what was made for runs, of which none may be left.
func (a *Access) Close() error { return a.trust.remove() }

// Of returns what a skill of that version has, and an error where what is granted
// cannot be known: then it has nothing.
func (a *Access) Of(skill *catalog.Skill, digest string) (grants.Effective, error) {
	if a == nil || a.Configured == nil {
		return grants.Effective{}, nil
	}
	configured, err := a.Configured(skill.Name)
	if err != nil {
		a.log.Warn("nothing is granted to a skill", "skill", skill.Name, "error", err)
		return grants.Effective{}, fmt.Errorf("grants of %s: %w", skill.Name, err)
	}
	return grants.Decide(configured, grants.Skill{Places: []string{a.catalog.Root(skill).Path, skill.Place()}, Digest: digest}), nil
}

// Any reports whether something is granted to skills of a name, be it in force or
// not, or may be where that cannot be known.
func (a *Access) Any(skill *catalog.Skill) bool {
	if a == nil || a.Configured == nil {
		return false
	}
	configured, err := a.Configured(skill.Name)
	return err != nil || !configured.None()
}

// holdsHosts reports whether programs can be given some hosts and no others.
func (a *Access) holdsHosts() bool { return a.backend.Info().Egress }

// Skill is one version of a skill that is to run, as its programs see it.
type Skill struct {
	*catalog.Skill
	Digest string
	// Copy is the directory of what of it programs see.
	Copy string
}

// Open returns what a run of a skill gets; nil for a run of no skill, which gets
// nothing. An error is one for the client: nothing is to be run. The caller
// closes it.
func (a *Access) Open(ctx context.Context, skill Skill, program Program) (*Run, error) {
	if a == nil || skill.Skill == nil {
		return nil, nil
	}
	effective, err := a.Of(skill.Skill, skill.Digest)
	run := &Run{access: a, skill: skill, effective: effective, unknown: err != nil}
	if err == nil {
		run.asking = a.newAsking(ctx, skill, program)
	}
	if err := run.open(ctx); err != nil {
		run.Close()
		return nil, err
	}
	return run, nil
}
