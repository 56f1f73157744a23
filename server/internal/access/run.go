package access

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/internal/shellword"
	"github.com/skills-mcp/skills-mcp/policy/grants"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// lookAgain is how often it is looked whether a run still has what it has.
const lookAgain = 500 * time.Millisecond

// Run is what one run gets. The methods of a nil Run do nothing.
type Run struct {
	access    *Access
	skill     Skill
	effective grants.Effective
	unknown   bool // what is granted cannot be known

	asking  *asking         // nil where the user is not asked
	session *egress.Session // nil where the network stays closed
	env     map[string]string
	show    []string
	path    []string
	// packages is nil where none are granted, or none prepared; release lets others
	// remove them.
	packages *environments.Environment
	release  func()

	watching sync.WaitGroup
	stop     context.CancelFunc // of watching; nil where nothing is watched
	once     sync.Once
	revoked  bool // after watching
}

// open gathers all that is granted.
func (r *Run) open(ctx context.Context) error {
	r.env = map[string]string{}
	r.findPackages()
	if err := r.showAll(); err != nil {
		return err
	}
	masked, err := r.readSecrets(ctx)
	if err != nil {
		return err
	}
	return r.openNetwork(masked)
}

// openNetwork opens the session where any host is granted, or what is asked for is
// to be told, be it to the user who is asked.
func (r *Run) openNetwork(masked []egress.Secret) error {
	rules := r.effective.Network()
	if !r.access.holdsHosts() || len(rules) == 0 && r.access.NetworkLog == nil && r.asking == nil {
		return nil
	}
	proxy, err := r.access.proxy()
	if err != nil {
		return r.fault("the proxy of programs cannot be started", err)
	}
	bundle := ""
	if len(masked) > 0 {
		if bundle, err = r.access.trust.file(proxy); err != nil {
			return r.fault("the certificates that programs are to trust cannot be written", err)
		}
		r.show = append(r.show, bundle)
	}
	if r.session, err = proxy.Open(r.grant(rules, masked)); err != nil {
		return r.fault("what is granted cannot be used", err)
	}
	maps.Copy(r.env, egress.Variables(bundle))
	r.watch()
	return nil
}

func (r *Run) grant(rules []hosts.Rule, masked []egress.Secret) egress.Grant {
	granted := egress.Grant{
		Skill: r.skill.Name, Rules: rules, AllowPrivate: r.effective.AllowPrivate,
		MaxBytes: r.effective.MaxBytes, MaxRequests: r.effective.MaxRequests, Secrets: masked,
	}
	if r.asking != nil {
		granted.Ask = r.asking.ask
	}
	if log := r.access.NetworkLog; log != nil {
		granted.Log = func(event egress.Event) { log(r.skill.Name, event) }
	}
	return granted
}

// fault is the failure of a run that cannot be given what it is granted, for a
// reason that its log has.
func (r *Run) fault(message string, err error) error {
	r.access.log.Error(message, "skill", r.skill.Name, "error", err)
	return &failure.Failure{Code: failure.SandboxSetup, Message: message, Hint: "Tell the user: the server's log says why. Nothing was run.", Cause: err}
}

// watch ends the network of a run that loses any of it, and lowers its limits with
// those that are granted.
func (r *Run) watch() {
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	r.watching.Go(func() {
		ticker := time.NewTicker(lookAgain)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			now, err := r.access.Of(r.skill.Skill, r.skill.Digest)
			if err != nil || !r.effective.Within(&now.Grants) || !r.asking.holds() {
				r.access.log.Info("a run lost its network, since what the skill is granted is less now", "skill", r.skill.Name)
				r.revoked = true
				r.session.Close()
				return
			}
			r.session.Lower(egress.Grant{MaxBytes: now.MaxBytes, MaxRequests: now.MaxRequests})
		}
	})
}

// Packages returns what was prepared for a skill that is granted packages, else
// nil.
func (a *Access) Packages(skill Skill) *environments.Environment {
	if effective, err := a.Of(skill.Skill, skill.Digest); err != nil || !effective.Packages {
		return nil
	}
	return a.prepared(skill)
}

func (a *Access) prepared(skill Skill) *environments.Environment {
	if a.Prepared == nil {
		return nil
	}
	packages, err := a.Prepared(skill.Digest, skill.Copy)
	if err != nil && !errors.Is(err, environments.ErrNotPrepared) {
		a.log.Warn("the packages of a skill cannot be shown", "skill", skill.Name, "error", err)
	}
	if err != nil {
		return nil
	}
	return packages
}

// findPackages finds what was prepared for the skill, where that is granted.
func (r *Run) findPackages() {
	if !r.effective.Packages {
		return
	}
	packages := r.access.prepared(r.skill)
	if packages == nil {
		return
	}
	release, err := packages.Acquire()
	if err != nil {
		r.access.log.Warn("the packages of a skill cannot be shown", "skill", r.skill.Name, "error", err)
		return
	}
	r.packages, r.release = packages, release
	r.show = append(r.show, packages.Show...)
	r.path = append(r.path, packages.Path...)
	maps.Copy(r.env, packages.Env)
}

// showAll checks what is shown by its paths.
func (r *Run) showAll() error {
	for _, name := range r.effective.Show {
		if r.access.CheckShow == nil {
			return nil
		}
		path, err := r.access.CheckShow(name)
		if err != nil {
			r.access.log.Warn("a skill cannot be shown what it is granted", "skill", r.skill.Name, "path", name, "error", err)
			return failure.New(failure.SandboxSetup, "Tell the user: 'skills-mcp grants' lists it, and 'skills-mcp revoke "+shellword.Name(r.skill.Name)+" --show DIR' takes it back.",
				"a directory that the skill %q is granted to see cannot be shown, so nothing was run: it is not there, or no place that programs may read", r.skill.Name)
		}
		r.show = append(r.show, path)
	}
	return nil
}

// Specify has a run get it all.
func (r *Run) Specify(spec *sandbox.Spec) {
	if r == nil {
		return
	}
	if r.session != nil {
		spec.Egress = r.session
	}
	if len(r.env) > 0 && spec.Env == nil {
		spec.Env = map[string]string{}
	}
	maps.Copy(spec.Env, r.env)
	spec.Show = append(spec.Show, outermost(r.show)...)
	spec.Path = append(spec.Path, r.path...)
}

// outermost returns paths without those that lie below others, or stand twice.
func outermost(paths []string) (kept []string) {
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	for _, path := range paths {
		if !slices.ContainsFunc(paths, func(other string) bool {
			return strings.HasPrefix(path, other+string(filepath.Separator))
		}) {
			kept = append(kept, path)
		}
	}
	return kept
}

// Close ends what the run has of the network, and lets its packages be removed.
// It may be called again.
func (r *Run) Close() {
	if r == nil {
		return
	}
	r.once.Do(func() {
		if r.stop != nil {
			r.stop()
			r.watching.Wait()
		}
		if r.session != nil {
			r.session.Close()
		}
		if r.release != nil {
			r.release()
		}
	})
}
