// Package server is the MCP surface of skills-mcp: it publishes the skills of
// a catalog as resources, prompts and a constant set of tools, and translates
// between the protocol and the rooms that do the work.
//
// It is the only package that imports the MCP library. A request takes one
// snapshot of the catalog and keeps it to its end. Errors become protocol
// errors in failure and nowhere else; no host path, stack or secret
// passes.
//
// Trust: what a client sends and what skills contain is untrusted. Who may
// connect is the transport's matter: stdio trusts its parent process, HTTP
// serves loopback unless told otherwise.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/internal/redact"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/resources/staging"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/access"
	"github.com/skills-mcp/skills-mcp/server/internal/activation"
	"github.com/skills-mcp/skills-mcp/server/internal/client"
	"github.com/skills-mcp/skills-mcp/server/internal/consent"
	"github.com/skills-mcp/skills-mcp/server/internal/execution"
	"github.com/skills-mcp/skills-mcp/server/internal/library"
	"github.com/skills-mcp/skills-mcp/server/internal/packages"
	"github.com/skills-mcp/skills-mcp/server/internal/publish"
	"github.com/skills-mcp/skills-mcp/server/internal/recorder"
	"github.com/skills-mcp/skills-mcp/server/internal/requirement"
	"github.com/skills-mcp/skills-mcp/server/internal/router"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
	"github.com/skills-mcp/skills-mcp/server/internal/tools"
	"github.com/skills-mcp/skills-mcp/server/internal/updates"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// Toolset names tools that are there only where the operator wants them.
type Toolset = tools.Toolset

// ToolsetWorkspace has view, create_file, str_replace and bash_tool, by which
// a model works on the files of a workspace itself.
const ToolsetWorkspace = tools.ToolsetWorkspace

// ParseToolset returns the toolset of a name.
func ParseToolset(name string) (Toolset, error) { return tools.ParseToolset(name) }

// Limits bound the runs of a skill.
type Limits = execution.Limits

// Activated remembers the names of skills that were activated, also by an earlier
// server of the same session. It is safe for use by several goroutines.
type Activated = activation.Memory

// Options are what a server is made of.
type Options struct {
	// Version is the program's version, without a leading v.
	Version string
	// Catalog is where skills come from. Required; the caller closes it.
	Catalog *catalog.Catalog
	// Policy decides what skills may do. Its zero value enforces.
	Policy policy.Policy
	// Sandbox runs scripts. If nil, nothing can be run. It is asked nothing before
	// a request needs to know of it. The caller closes it.
	Sandbox sandbox.Backend
	// Workspaces hold what programs write. Required where Sandbox is set;
	// the caller closes them.
	Workspaces *workspaces.Store
	// Toolsets are the sets of tools that are there besides the four that
	// always are, each at most once. They need Workspaces.
	Toolsets []Toolset
	// MountAll has the programs of the workspace's toolset that are of no skill see
	// all skills that keep nothing from them, where Sandbox can show them.
	MountAll bool
	// PackTools has the tools of skills' tools.json that there are at the start be
	// tools of their own too.
	PackTools bool
	// Copies hold the skills as their programs see them. Required where
	// Sandbox is set; the caller closes them.
	Copies *staging.Copies
	// Shares are the directories of the user that programs may work on.
	Shares Shares
	// Grants are what skills are granted. The zero value has nothing.
	Grants Grants
	// Environments returns the packages that were prepared for skills, which those
	// have that are granted packages, or nil for none. It is called when a request
	// needs to know of them. If nil, there are none.
	Environments func() *environments.Store
	// Pinned are names of skills that the instructions list first.
	Pinned []string
	// Activated remembers which skills were activated in the session of the one
	// client that there is. If nil, nothing does.
	Activated Activated
	// Approval says what users are asked before it is done. In its zero value
	// programs run and files are read without a question.
	Approval Approval
	// Limits are those of the runs of a skill, and of those of none where the name
	// is empty. If nil, the defaults.
	Limits func(skill string) Limits
	// CompatIndex serves skill://index.json, as drafts of the Skills
	// extension had it.
	CompatIndex bool
	// Audit is where every call of a tool, and every reading of a skill by another
	// way, is recorded. If nil, it is nowhere. The caller closes it.
	Audit *audit.Log
	// Redact is the values of secrets, which are taken out of all that clients and
	// callers get. If nil, there are none.
	Redact *redact.Set
	// MetricsBySkill has metrics tell skills apart by their names.
	MetricsBySkill bool
	// Now is the clock by which idle sessions expire. If nil, it is [time.Now].
	Now func() time.Time
	// Logger receives what happens. If nil, nothing is logged.
	Logger *slog.Logger
}

// Server serves one catalog to any number of clients.
type Server struct {
	opts          Options
	log           *slog.Logger
	library       *mcpserver.MCPServer
	router        *router.Router
	tools         *tools.Registry
	publisher     *publish.Publisher
	workspaces    *workspace.Access
	updates       *updates.Updates
	consent       *consent.Door
	shares        *shares.Access
	access        *access.Access
	measures      *measures
	subscriptions client.Subscriptions
}

// New makes a server. An error means that the options are incomplete.
func New(opts Options) (*Server, error) {
	if opts.Catalog == nil {
		return nil, errors.New("server: no catalog")
	}
	if opts.Sandbox != nil && opts.Workspaces == nil {
		return nil, errors.New("server: a sandbox needs workspaces")
	}
	if opts.Sandbox != nil && opts.Copies == nil {
		return nil, errors.New("server: a sandbox needs copies of skills")
	}
	if opts.Sandbox == nil {
		opts.Sandbox = sandbox.None("this server has no sandbox.")
	}
	s := &Server{opts: opts, log: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	if err := s.furnish(); err != nil {
		return nil, err
	}
	s.library = s.newLibrary()
	s.router = &router.Router{Library: s.library, Methods: s.publisher.Methods(), Read: s.publisher.Read, Log: s.log}
	s.tools.Register(s.library)
	s.publisher.Register(s.library)
	if opts.Workspaces != nil {
		opts.Workspaces.OnExpire(func(handle string) {
			s.updates.WorkspaceExpired(handle)
			s.shares.Forget(handle)
		})
	}
	return s, nil
}

// furnish makes the rooms, each of those that it needs.
func (s *Server) furnish() (err error) {
	opts := s.opts
	s.measures = newMeasures(opts)
	record := recorder.Recorder{Log: opts.Audit, Seen: s.measures.request}
	s.consent = consent.New(consent.Options{Modes: opts.Approval.Modes, Skills: opts.Approval.Skills, Answers: opts.Approval.Answers,
		Answered: answered(record), Now: opts.Now, Logger: s.log})
	found := skills.Access{Catalog: opts.Catalog, Policy: opts.Policy, Consent: s.consent, Digests: &resources.Digests{}, Log: s.log}
	s.workspaces = workspace.New(opts.Workspaces)
	opts.Shares.Redact = opts.Redact
	s.shares = shares.New(opts.Shares, s.log)
	prepared := packages.New(opts.Environments)
	if opts.Grants.Prepared == nil {
		opts.Grants.Prepared = prepared.Find
	}
	opts.Grants.Needs = prepared.Needs
	s.access = access.New(opts.Grants, opts.Catalog, opts.Sandbox, s.consent, s.log)
	s.updates = &updates.Updates{Skills: found, Workspaces: s.workspaces, Subscriptions: &s.subscriptions, Notified: s.measures.notified, Log: s.log}
	requirements := &requirement.Finder{Sandbox: opts.Sandbox, Copies: opts.Copies, Workspaces: s.workspaces, Access: s.access, Packages: prepared, Log: s.log,
		Limits: func(skill string) sandbox.Limits { return execution.LimitsOf(opts.Limits).Of(skill).Limits }}
	activations := activation.Writer{Skills: found, Shares: s.shares, Access: s.access, Needs: prepared.Needs, Copies: opts.Copies, Requirements: requirements, Sandbox: opts.Sandbox,
		Memory: opts.Activated, Cut: &sync.Map{}, Shown: func(skill string) int64 { return execution.LimitsOf(opts.Limits).Of(skill).Instructions }}
	s.publisher = &publish.Publisher{Skills: found, Workspaces: s.workspaces, Activation: activations, Shares: s.shares,
		Pinned: opts.Pinned, CompatIndex: opts.CompatIndex, Recorder: record, Log: s.log}
	var shown *library.Access
	if opts.MountAll {
		shown = &library.Access{Skills: found, Copies: opts.Copies, Sandbox: opts.Sandbox}
	}
	rooms := tools.Rooms{Skills: found, Workspaces: s.workspaces, Activation: activations, Shares: s.shares, Door: s.consent, Runner: &execution.Runner{
		Skills: found, Shares: s.shares, Access: s.access, Redact: opts.Redact, Workspaces: s.workspaces, Copies: opts.Copies, Requirements: requirements, Library: shown, Consent: s.consent,
		Limits: opts.Limits, Sandbox: measured{opts.Sandbox, s.measures}, Changed: s.updates.WorkspaceChanged, Log: s.log,
	}}
	all := tools.Basic(rooms)
	for _, name := range opts.Toolsets {
		set, err := ParseToolset(string(name))
		if err != nil {
			return fmt.Errorf("server: toolset %w", err)
		}
		if opts.Workspaces == nil {
			return fmt.Errorf("server: the toolset %s needs workspaces", name)
		}
		all = append(all, set.Tools(rooms)...)
	}
	if opts.PackTools {
		all = append(all, tools.Packs(rooms, all)...)
	}
	if s.tools, err = tools.NewRegistry(all, s.consent, record, s.log); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}

// newLibrary sets the library up: capabilities, hooks, recovery.
func (s *Server) newLibrary() *mcpserver.MCPServer {
	return mcpserver.NewMCPServer("skills-mcp", s.opts.Version,
		mcpserver.WithTitle("Agent Skills"),
		mcpserver.WithDescription("Folders of Agent Skills as resources, prompts and a sandboxed runtime."),
		mcpserver.WithToolCapabilities(false),
		mcpserver.WithResourceCapabilities(true, true),
		mcpserver.WithPromptCapabilities(true),
		mcpserver.WithCompletions(),
		mcpserver.WithExtensions(publish.Capability),
		mcpserver.WithResourceCompletionProvider(s.publisher),
		mcpserver.WithStrictInputSchemaDefault(),
		mcpserver.WithToolHandlerMiddleware(router.Cancelable),
		mcpserver.WithHooks(s.hooks()),
	)
}

// hooks are the places in which the library lets us in.
func (s *Server) hooks() *mcpserver.Hooks {
	hooks := &mcpserver.Hooks{}
	s.publisher.Hook(hooks)
	s.tools.Hook(hooks)
	s.updates.Hook(hooks)
	hooks.AddOnUnregisterSession(func(_ context.Context, session mcpserver.ClientSession) {
		s.forget(session.SessionID())
	})
	router.HookErrors(hooks, s.log)
	return hooks
}

// forget drops what is known of a session that ended; again does no harm.
func (s *Server) forget(session string) {
	s.workspaces.Forget(session)
	s.shares.ForgetSession(session)
	s.consent.Forget(session)
}

// Close removes what was made for what skills are granted. Nothing runs any more.
func (s *Server) Close() error { return s.access.Close() }

// Notify notifies clients of a change of the catalog. It is meant for
// [catalog.Catalog.Watch].
func (s *Server) Notify(change catalog.Change) { s.updates.CatalogChanged(change) }

// EntryFault says why skills/list leaves a skill out, or nothing where it does
// not. The tools, prompts and resources serve it all the same.
func EntryFault(skill *catalog.Skill) string { return publish.EntryFault(skill) }
