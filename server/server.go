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
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources/staging"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/activation"
	"github.com/skills-mcp/skills-mcp/server/internal/client"
	"github.com/skills-mcp/skills-mcp/server/internal/publish"
	"github.com/skills-mcp/skills-mcp/server/internal/requirement"
	"github.com/skills-mcp/skills-mcp/server/internal/router"
	"github.com/skills-mcp/skills-mcp/server/internal/schema"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
	"github.com/skills-mcp/skills-mcp/server/internal/updates"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// Options are what a server is made of.
type Options struct {
	// Version is the program's version, without a leading v.
	Version string
	// Catalog is where skills come from. Required; the caller closes it.
	Catalog *catalog.Catalog
	// Policy decides what skills may do. Its zero value enforces.
	Policy policy.Policy
	// Sandbox runs scripts. If nil, exec answers sandbox_unavailable with
	// Unavailable as the reason. The caller closes it.
	Sandbox sandbox.Backend
	// Unavailable says why there is no sandbox and how to get one.
	Unavailable string
	// Workspaces hold what programs write. Required where Sandbox is set;
	// the caller closes them.
	Workspaces *workspaces.Store
	// Toolsets are the sets of tools that are there besides the four that
	// always are, each at most once. They need Workspaces.
	Toolsets []Toolset
	// Copies hold the skills as their programs see them. Required where
	// Sandbox is set; the caller closes them.
	Copies *staging.Copies
	// Pinned are names of skills that the instructions list first.
	Pinned []string
	// CompatIndex serves skill://index.json, as drafts of the Skills
	// extension had it.
	CompatIndex bool
	// Now is the clock by which idle sessions expire. If nil, it is [time.Now].
	Now func() time.Time
	// Logger receives what happens. If nil, nothing is logged.
	Logger *slog.Logger
}

// Server serves one catalog to any number of clients.
type Server struct {
	opts          Options
	log           *slog.Logger
	mcp           *mcpserver.MCPServer
	router        *router.Router
	tools         []tool
	skills        skills.Access
	schemas       schema.Set
	workspaces    *workspace.Access
	requirements  *requirement.Finder
	activation    activation.Writer
	subscriptions client.Subscriptions
	updates       *updates.Updates
	publisher     *publish.Publisher
	// edits lets one call at a time write to workspaces, so that none undoes
	// what another did.
	edits sync.Mutex
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
	s := &Server{opts: opts, log: opts.Logger}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	s.workspaces = workspace.New(opts.Workspaces)
	s.requirements = &requirement.Finder{Sandbox: opts.Sandbox, Copies: opts.Copies, Workspaces: s.workspaces, Log: s.log}
	s.skills = skills.Access{Catalog: opts.Catalog, Policy: opts.Policy, Log: s.log}
	s.activation = activation.Writer{Skills: s.skills, Requirements: s.requirements, Sandbox: opts.Sandbox, Unavailable: opts.Unavailable}
	s.updates = &updates.Updates{Skills: s.skills, Workspaces: s.workspaces, Subscriptions: &s.subscriptions, Log: s.log}
	s.publisher = &publish.Publisher{Skills: s.skills, Workspaces: s.workspaces, Activation: s.activation,
		Pinned: opts.Pinned, CompatIndex: opts.CompatIndex, Log: s.log}
	s.tools = []tool{s.activateTool(), s.readResourceTool(), s.execTool(), s.findSkillsTool()}
	for _, name := range opts.Toolsets {
		tools, err := s.toolset(name)
		if err != nil {
			return nil, err
		}
		s.tools = append(s.tools, tools...)
	}
	s.mcp = s.newLibraryServer()
	s.router = &router.Router{Library: s.mcp, Methods: s.publisher.Methods(), Log: s.log}
	if err := s.registerTools(); err != nil {
		return nil, err
	}
	s.publisher.Register(s.mcp)
	if opts.Workspaces != nil {
		opts.Workspaces.OnExpire(s.updates.WorkspaceExpired)
	}
	return s, nil
}

// newLibraryServer sets the library up: capabilities, hooks, recovery.
func (s *Server) newLibraryServer() *mcpserver.MCPServer {
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
	s.updates.Hook(hooks)
	hooks.AddOnUnregisterSession(func(_ context.Context, session mcpserver.ClientSession) {
		s.workspaces.Forget(session.SessionID())
	})
	router.HookErrors(hooks, s.log)
	return hooks
}

// Notify tells clients of a change of the catalog. It is the function to give
// to [catalog.Catalog.Watch].
func (s *Server) Notify(change catalog.Change) { s.updates.CatalogChanged(change) }

// EntryFault says why skills/list leaves a skill out, or nothing where it does
// not. The tools, prompts and resources serve it all the same.
func EntryFault(skill *catalog.Skill) string { return publish.EntryFault(skill) }
