// Package shares lends directories of the user to runs, and keeps what programs
// change in them as change sets, one for each workspace and directory.
//
// The operator says which directories these are; nothing that a client sends or
// a skill contains adds one. What programs left in a change set is trusted with
// nothing, and nothing of it is in the user's directory before it is applied.
package shares

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/redact"
	"github.com/skills-mcp/skills-mcp/policy/paths"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
)

// Mode is what the operator allows in a directory.
type Mode string

// The modes, the narrowest first.
const (
	Read   Mode = "read"
	Review Mode = "review" // changes are held
	Write  Mode = "write"  // changes are applied when a run has ended
)

// Sentence says to models what a mode means.
func (m Mode) Sentence() string {
	switch m {
	case Read:
		return "They can read it and not change it."
	case Review:
		return "What they change there is held, and is in the user's files only after applyChanges."
	}
	return "What they change there is in the user's files when a run has ended, but for what is protected."
}

// View has the layers of a directory as programs are to see it: a
// [project.View], or a [project.FileView].
type View interface {
	Acquire(ctx context.Context) (*project.Lease, error)
}

// Directory is one that programs see.
type Directory struct {
	// Path is its absolute, real path.
	Path string
	Mode Mode
	View View
	// Rules returns what is hidden and protected now, and what is applied without
	// asking. It is called by several goroutines.
	Rules func() paths.Rules
	// Prefix comes before paths in it when rules judge them: [GitPrefix] of a git
	// directory by itself, else nothing.
	Prefix string
	// Files are the names of the only files in it that programs see, for a view
	// of single files; else empty.
	Files []string
}

// Options are what is lent.
type Options struct {
	// Project is the project, and after it what else of the user's belongs to it;
	// empty where there is none, or Find finds it.
	Project []Directory
	// Find returns the project of a session, or nothing. It is called at most once
	// for each, with the file: URI of the only root that the client named, if it
	// did. If nil, there is no other than Project.
	Find func(ctx context.Context, root string) []Directory
	// Others are further directories, none below another or the project.
	Others []Directory
	// Store keeps the change sets. Required where any mode is not Read.
	Store *changes.Store
	// Env returns the environment that tools need in directories, such as git.
	Env func(directories []string) map[string]string
	// Redact is what no diff shows. The server sets it to its own.
	Redact *redact.Set
	// Wait is how long an edit waits for runs of the same workspace, and an apply
	// for those that use the same set. If zero, [DefaultWait].
	Wait time.Duration
}

// DefaultWait is the default of [Options.Wait].
const DefaultWait = 20 * time.Second

// Access lends directories. A nil Access lends none. It is safe for use by
// several goroutines.
type Access struct {
	Options
	log *slog.Logger

	found found

	mu   sync.Mutex
	sets map[string]map[string]*used // by workspace and directory
}

// used is a change set that runs of this server use.
type used struct {
	*changes.Set
	authors []Author // whose programs may have written to it
}

// New returns what lends directories, or nil where there are none.
func New(options Options, log *slog.Logger) *Access {
	if len(options.Project) == 0 && options.Find == nil && len(options.Others) == 0 {
		return nil
	}
	return &Access{Options: options, log: log, sets: map[string]map[string]*used{}}
}

// Further returns the directories besides the project.
func (a *Access) Further() []Directory {
	if a == nil {
		return nil
	}
	return a.Others
}

// Lease is what one run is lent.
type Lease struct {
	access *Access
	// project says that the first of the loans is of the project.
	project bool
	env     map[string]string
	loans   []*loan
}

// loan is one directory.
type loan struct {
	of      Directory
	set     *changes.Set // nil where it is only read
	share   sandbox.Share
	hidden  []project.Masked
	release []func() error
	fault   error // why it is not lent
	late    error // why it is not known what the run changed
}

// Lend lends all directories to a run in a workspace, by an author. What cannot
// be lent is missing, and [Lease.Report] says why. It waits while changes are
// being applied.
func (a *Access) Lend(ctx context.Context, ws workspaces.Workspace, by Author) (*Lease, error) {
	lease := &Lease{access: a}
	if a == nil {
		return lease, nil
	}
	directories, hasProject := a.directories(ctx)
	lease.project, lease.env = hasProject, a.env(directories)
	for _, of := range directories {
		l := newLoan(of)
		lease.loans = append(lease.loans, l)
		if l.fault = a.lend(ctx, ctx, l, targetIn(ws, of, a.projectOf(ctx, of), by), by); l.fault != nil {
			if err := l.end(); err != nil {
				a.log.Warn("what was lent of a directory is not released", "path", of.Path, "error", err)
			}
			if ctx.Err() != nil {
				lease.Release()
				return nil, l.fault
			}
			a.log.Warn("a directory is not shown", "path", of.Path, "error", l.fault)
		}
	}
	return lease, nil
}

func newLoan(of Directory) *loan {
	return &loan{of: of, share: sandbox.Share{Path: of.Path, Access: sandbox.AccessRead}}
}

// targetIn is what the change set of a workspace and a directory is about.
func targetIn(ws workspaces.Workspace, of Directory, project string, by Author) changes.Target {
	target := changes.Target{Path: of.Path, Label: label(of, of.Path == project), Skill: by.Skill, Workspace: ws.Handle, Files: of.Files}
	if target.Label == labelGit {
		target.Project = project
	}
	return target
}

// projectOf returns the path of the project that a directory is or belongs to, or
// nothing for others.
func (a *Access) projectOf(ctx context.Context, of Directory) string {
	project := a.project(ctx)
	if !slices.ContainsFunc(project, func(d Directory) bool { return d.Path == of.Path }) {
		return ""
	}
	return project[0].Path
}

// env returns the environment that tools need in directories.
func (a *Access) env(directories []Directory) map[string]string {
	if a.Env == nil {
		return map[string]string{}
	}
	paths := make([]string, len(directories))
	for i, of := range directories {
		paths[i] = of.Path
	}
	return a.Options.Env(paths)
}

// labelGit is the label of change sets in a git directory by itself, which rules
// judge by [GitPrefix].
const (
	labelGit  = "git"
	GitPrefix = ".git/"
)

// label is what people call a directory.
func label(of Directory, project bool) string {
	switch {
	case project:
		return "project"
	case of.Prefix == GitPrefix:
		return labelGit
	}
	return ""
}

// lend readies a loan. It waits for applies until the context wait ends.
func (a *Access) lend(ctx, wait context.Context, l *loan, target changes.Target, by Author) error {
	if l.of.Mode != Read {
		if err := a.hold(wait, l, target, by); err != nil {
			return err
		}
	}
	// What the user changes from here on is a conflict: the view may be a copy.
	return a.look(ctx, l)
}

// look has a loan show what is in the directory.
func (a *Access) look(ctx context.Context, l *loan) error {
	view, err := l.of.View.Acquire(ctx)
	if err != nil {
		return err
	}
	l.share.Layers, l.hidden = view.Layers, view.Masked
	l.release = append(l.release, func() error { view.Release(); return nil })
	return nil
}

// hold has the changes of a run held.
func (a *Access) hold(ctx context.Context, l *loan, target changes.Target, by Author) (err error) {
	if l.set, err = a.setOf(target, by); err != nil {
		return err
	}
	used, err := l.set.Use(ctx)
	if err != nil {
		return err
	}
	l.release = append(l.release, used)
	l.share.Access, l.share.Changes = sandbox.AccessReview, l.set.Dir()
	return nil
}

// setOf returns the change set of a workspace, which is made where there is none,
// for an author to write to.
func (a *Access) setOf(target changes.Target, by Author) (*changes.Set, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if set := a.sets[target.Workspace][target.Path]; set != nil {
		if !slices.Contains(set.authors, by) {
			set.authors = append(set.authors, by)
		}
		return set.Set, nil
	}
	set, err := a.Store.New(target)
	if err != nil {
		return nil, err
	}
	if a.sets[target.Workspace] == nil {
		a.sets[target.Workspace] = map[string]*used{}
	}
	a.sets[target.Workspace][target.Path] = &used{set, []Author{by}}
	return set, nil
}

// Forget lets go of the change sets of a workspace that has expired. They stay,
// for the user to apply.
func (a *Access) Forget(handle string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	sets := a.sets[handle]
	delete(a.sets, handle)
	a.mu.Unlock()
	for _, set := range sets {
		a.close(set.Set)
	}
}

func (a *Access) close(set *changes.Set) {
	if err := set.Close(); err != nil {
		a.log.Warn("a change set cannot be closed", "error", err)
	}
}

// Specify adds to a run what it is lent.
func (l *Lease) Specify(spec *sandbox.Spec) {
	for i, lent := range l.loans {
		if lent.fault != nil {
			continue
		}
		spec.Project = spec.Project || i == 0 && l.project
		spec.Shares = append(spec.Shares, lent.share)
	}
	if len(spec.Shares) == 0 {
		return
	}
	env := maps.Clone(l.env)
	maps.Copy(env, spec.Env)
	spec.Env = env
}

// Release ends the lease when the run has. From then on changes can be applied.
func (l *Lease) Release() {
	for _, lent := range l.loans {
		if err := lent.end(); err != nil {
			l.access.log.Error("what a run changed cannot be noted", "path", lent.of.Path, "error", err)
			lent.late = err
		}
	}
}

// end releases what is held of a directory, the last first.
func (l *loan) end() error {
	var errs []error
	for i := len(l.release) - 1; i >= 0; i-- {
		errs = append(errs, l.release[i]())
	}
	l.release = nil
	return errors.Join(errs...)
}
