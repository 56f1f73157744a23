package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/backends"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/examples"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/granted"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/preparing"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/userfiles"
	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/internal/config"
	"github.com/skills-mcp/skills-mcp/internal/statedir"
	"github.com/skills-mcp/skills-mcp/resources/staging"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server"
)

// runtime is the wired program.
type runtime struct {
	log        *slog.Logger
	catalog    *catalog.Catalog
	backend    sandbox.Backend
	workspaces *workspaces.Store
	copies     *staging.Copies
	audit      *audit.Log       // nil where nothing is recorded
	files      *userfiles.Files // nil where programs see none of the user
	granted    *granted.Source
	// environments returns nil where nothing can be run.
	environments func() *environments.Store
	reaping      sync.WaitGroup // of what another process left there
	metricsAt    string         // where metrics are served, or off
	server       *server.Server
}

// open wires the rooms together. The caller closes the runtime.
func open(ctx context.Context, s *settings.Settings, stderr io.Writer, rootArguments []string) (_ *runtime, err error) {
	r := &runtime{}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if err := s.Read(rootArguments); err != nil {
		return nil, err
	}
	if r.log, err = s.Logger(stderr); err != nil {
		return nil, err
	}
	s.Warn(r.log)
	toolsets, err := s.WantedToolsets()
	if err != nil {
		return nil, err
	}
	roots, err := s.CatalogRoots()
	if err != nil {
		return nil, err
	}
	if r.audit, err = s.OpenAudit(r.log); err != nil {
		return nil, err
	}
	// The scan takes longest, so that all else is done meanwhile.
	opening, untilError := errgroup.WithContext(ctx)
	opening.Go(func() (err error) {
		r.catalog, err = openCatalog(untilError, s, r.log, roots)
		return err
	})
	opening.Go(func() (err error) {
		if r.backend, err = backends.Open(ctx, s, r.log); err != nil {
			return err
		}
		return r.openStores(s, stderr)
	})
	if err := opening.Wait(); err != nil {
		return nil, err
	}
	r.server, err = server.New(r.options(s, toolsets))
	return r, err
}

// options are what the server is made of.
func (r *runtime) options(s *settings.Settings, toolsets []server.Toolset) server.Options {
	return server.Options{
		Version:        programVersion(),
		Catalog:        r.catalog,
		Policy:         s.OperatorPolicy(),
		Sandbox:        r.backend,
		Workspaces:     r.workspaces,
		Toolsets:       toolsets,
		Copies:         r.copies,
		Shares:         r.files.Lent(),
		Grants:         r.granted.Grants(),
		Environments:   r.environments,
		Pinned:         s.Pin,
		Activated:      s.Activated(r.log),
		Approval:       s.Approvals(r.log),
		Limits:         s.RunLimits,
		CompatIndex:    s.CompatIndex,
		PackTools:      s.ExposePackTools,
		MountAll:       s.Sandbox.MountAll,
		MetricsBySkill: s.Metrics.Skills,
		Audit:          r.audit,
		Redact:         s.Redact,
		Logger:         r.log,
	}
}

// openStores opens what runs have besides a sandbox.
func (r *runtime) openStores(s *settings.Settings, stderr io.Writer) (err error) {
	r.metricsAt = s.Metrics.Address
	if r.workspaces, err = workspaces.New("", workspaces.Options{Idle: s.Workspaces.Idle, Max: s.Workspaces.Max, Logger: r.log}); err != nil {
		return err
	}
	if r.copies, err = staging.New("", r.log); err != nil {
		return err
	}
	r.copies.Withheld = userfiles.Withheld(s)
	if r.files, err = userfiles.Open(s, r.log); err != nil {
		return err
	}
	if r.granted, err = granted.Open(s, stderr, r.log); err != nil {
		return err
	}
	r.environments = sync.OnceValue(func() *environments.Store {
		store, err := preparing.OpenStore(r.backend, r.log)
		if err != nil {
			r.log.Warn("programs have no prepared packages", "error", err)
		}
		return store
	})
	r.reaping.Go(preparing.Reap)
	return nil
}

func openCatalog(ctx context.Context, s *settings.Settings, log *slog.Logger, roots []catalog.Root) (*catalog.Catalog, error) {
	index, err := statedir.Path("index")
	if err != nil {
		log.Debug("no index is kept", "error", err)
	}
	opened, err := catalog.Open(ctx, catalog.Options{
		Roots: roots, Strict: s.IsStrict(), Spec: s.Validation == "spec", MaxSkills: s.MaxSkills, Hides: s.Hides, Withheld: userfiles.Withheld(s),
		Poll: s.Poll, Index: index, Logger: log,
		Secret: func(text string) bool { return s.Redact.String(text) != text },
	})
	if err == nil {
		s.WarnOfNames(log, opened.Snapshot())
	}
	return opened, err
}

// whileWatching runs serve while the catalog follows its roots, and returns
// when both have ended.
func (r *runtime) whileWatching(ctx context.Context, serve func(context.Context) error) error {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	watched := make(chan error, 1)
	go func() { watched <- r.catalog.Watch(watching, r.server.Notify) }()
	measured := r.serveMetrics(watching)
	err := serve(ctx)
	stop()
	measured()
	if watchErr := <-watched; watchErr != nil && !errors.Is(watchErr, context.Canceled) {
		r.log.Error("watching the skills failed", "error", watchErr)
	}
	return err
}

// serveMetrics serves them where they are wanted, until ctx ends, and returns what
// waits for that. That their address is taken, as by another server of the same
// configuration, is no reason to serve no skills.
func (r *runtime) serveMetrics(ctx context.Context) (wait func()) {
	if r.metricsAt == config.Off {
		return func() {}
	}
	listener, err := net.Listen("tcp", r.metricsAt)
	if err != nil {
		r.log.Warn("there are no metrics", "address", r.metricsAt, "error", err)
		return func() {}
	}
	r.log.Info("serving metrics", "url", "http://"+listener.Addr().String()+"/metrics")
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := r.server.ServeMetrics(ctx, listener); err != nil {
			r.log.Warn("there are no metrics any more", "error", err)
		}
	})
	return serving.Wait
}

func (r *runtime) logStart(transport string) {
	snapshot := r.catalog.Snapshot()
	r.log.Info("serving", "transport", transport, "version", programVersion(),
		"skills", len(snapshot.Skills()), "problems", len(snapshot.Problems()))
}

// close ends what runs and removes what was made.
func (r *runtime) close() {
	var errs []error
	r.reaping.Wait()
	if r.backend != nil {
		errs = append(errs, r.backend.Close())
	}
	if r.server != nil {
		errs = append(errs, r.server.Close())
	}
	errs = append(errs, r.granted.Close())
	r.files.Close()
	if r.workspaces != nil {
		errs = append(errs, r.workspaces.Close())
	}
	if r.copies != nil {
		errs = append(errs, r.copies.Close())
	}
	if r.catalog != nil {
		errs = append(errs, r.catalog.Close())
	}
	if r.audit != nil {
		errs = append(errs, r.audit.Close())
	}
	if err := errors.Join(errs...); err != nil {
		r.log.Error("closing failed", "error", err)
	}
}

// examples returns what runs the examples of skills.
func (r *runtime) examples() examples.Runner {
	runner := examples.Runner{Call: r.server.Call}
	if r.backend.Info().Runs() {
		runner.Workspaces = r.workspaces
	}
	return runner
}
