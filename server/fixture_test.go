package server_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/answers"
	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/policy/approval"
	"github.com/skills-mcp/skills-mcp/resources/staging"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/host"
	"github.com/skills-mcp/skills-mcp/sandbox/queue"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server"
)

// fixture is a server over a directory of skills, wired as the program does.
type fixture struct {
	root          string
	workspaceBase string
	copyBase      string
	hidden        []string
	answers       string // the directory of answers that are remembered
	auditDir      string // of the audit log, with the option audit
	project       string // the user's project, with the option project
	shared        string // a further directory of the user, with the option share
	changesDir    string // of the change sets, with one of these
	workspaces    *workspaces.Store
	catalog       *catalog.Catalog
	server        *server.Server

	mu  sync.Mutex
	now time.Time
}

// newFixture makes a server; options are sandbox=off, allowed-tools=log,
// workspaces=1, runs=1 (and one that waits), compat-index, pack-tools, audit, toolset=NAME,
// pin=NAME, hide=NAME, approval.runs=MODE, approval.reads=MODE,
// approval.apply=MODE, approval.network=MODE, answers=DIR and secret=SKILL:VARIABLE:SOURCE (plain, + for a
// space), and those of [fixture.share].
func newFixture(t testing.TB, root string, options ...string) *fixture {
	t.Helper()
	return newFixtureWith(t, root, func(plain sandbox.Backend) sandbox.Backend { return plain }, options...)
}

// newFixtureWith makes a server whose backend is what wrap makes of the one
// that it has otherwise.
func newFixtureWith(t testing.TB, root string, wrap func(sandbox.Backend) sandbox.Backend, options ...string) *fixture {
	t.Helper()
	return newFixtureOf(t, root, func(opts *server.Options) {
		if opts.Sandbox != nil {
			opts.Sandbox = wrap(opts.Sandbox)
		}
	}, options...)
}

// newFixtureOf makes a server with options that set changes.
func newFixtureOf(t testing.TB, root string, set func(*server.Options), options ...string) *fixture {
	t.Helper()
	f := &fixture{root: root, workspaceBase: t.TempDir(), copyBase: t.TempDir(), now: time.Now()}
	for _, option := range options {
		if name, ok := strings.CutPrefix(option, "hide="); ok {
			f.hidden = append(f.hidden, name)
		}
	}
	skills, err := catalog.Open(t.Context(), catalog.Options{
		Roots: []catalog.Root{{Path: root}},
		Hides: func(_ int, name string) bool { return slices.Contains(f.hidden, name) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = skills.Close() })
	f.catalog = skills
	limits := workspaces.Options{Now: f.clock}
	for _, option := range options {
		if most, ok := strings.CutPrefix(option, "workspaces="); ok {
			number, err := strconv.Atoi(most)
			must(t, err)
			limits.Max = number
		}
	}
	f.workspaces, err = workspaces.New(f.workspaceBase, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.workspaces.Close() })
	copies, err := staging.New(f.copyBase, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = copies.Close() })
	t.Cleanup(func() {
		if f.server != nil { // closed after the sandbox, made last
			must(t, f.server.Close())
		}
	})
	opts := server.Options{Version: "0.0.0-test", Catalog: skills, Workspaces: f.workspaces, Copies: copies, Now: f.clock}
	if slices.Contains(options, "sandbox=off") {
		opts.Sandbox = sandbox.None("this test has no sandbox.")
	} else {
		backend, err := host.New(host.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = backend.Close() })
		opts.Sandbox = backend
	}
	f.share(t, &opts, options)
	f.grant(t, &opts, options)
	set(&opts)
	if opts.Sandbox != nil {
		if slices.Contains(options, "runs=1") {
			opts.Sandbox = queue.New(opts.Sandbox, queue.Options{Running: 1, Waiting: 1})
		}
	}
	if slices.Contains(options, "audit") {
		f.auditDir = filepath.Join(t.TempDir(), "audit")
		log, err := audit.Open(audit.Options{Dir: f.auditDir})
		must(t, err)
		t.Cleanup(func() { must(t, log.Close()) })
		opts.Audit = log
	}
	opts.PackTools = slices.Contains(options, "pack-tools")
	opts.CompatIndex = slices.Contains(options, "compat-index")
	if slices.Contains(options, "allowed-tools=log") {
		opts.Policy.Mode = policy.Log
	}
	f.answers = filepath.Join(t.TempDir(), "grants")
	for _, option := range options {
		if dir, ok := strings.CutPrefix(option, "answers="); ok {
			f.answers = dir
		}
		if mode, ok := strings.CutPrefix(option, "approval.runs="); ok {
			opts.Approval.Runs = approval.Mode(mode)
		}
		if mode, ok := strings.CutPrefix(option, "approval.reads="); ok {
			opts.Approval.Reads = approval.Mode(mode)
		}
		if mode, ok := strings.CutPrefix(option, "approval.apply="); ok {
			opts.Approval.Apply = approval.Mode(mode)
		}
		if mode, ok := strings.CutPrefix(option, "approval.network="); ok {
			opts.Approval.Network = approval.Mode(mode)
		}
		if name, ok := strings.CutPrefix(option, "pin="); ok {
			opts.Pinned = append(opts.Pinned, name)
		}
		if name, ok := strings.CutPrefix(option, "toolset="); ok {
			opts.Toolsets = append(opts.Toolsets, server.Toolset(name))
		}
	}
	opts.Approval.Answers = answers.New(answers.Options{Dir: f.answers, Now: f.clock})
	f.server, err = server.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// loseAudit puts a file in the place of the audit log's directory.
func (f *fixture) loseAudit(t testing.TB) {
	t.Helper()
	must(t, os.RemoveAll(f.auditDir))
	must(t, os.WriteFile(f.auditDir, nil, 0o600))
}

func (f *fixture) clock() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *fixture) advance(by time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(by)
}
