// Package userfiles finds the directories of the user that programs work on.
package userfiles

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/changesets"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/internal/config"
	"github.com/skills-mcp/skills-mcp/internal/statedir"
	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/policy/paths"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
	"github.com/skills-mcp/skills-mcp/server"
)

// Files are the directories of the user that programs work on.
type Files struct {
	settings *settings.Settings
	log      *slog.Logger
	places   project.Places
	masks    *tempdir.Dir
	named    []project.Share
	shares   server.Shares

	mu    sync.Mutex
	views []interface{ Close() error }
}

// Open finds the directories, or returns nil where programs see none. What the
// operator named and cannot be shown is an error; what a host named is left out,
// and logged.
func Open(s *settings.Settings, log *slog.Logger) (_ *Files, err error) {
	if s.Project.Access == config.Off || s.Sandbox.Backend == "off" {
		return nil, nil
	}
	u := &Files{settings: s, log: log}
	defer func() {
		if err != nil {
			u.Close()
		}
	}()
	if _, err = s.PathRules(""); err != nil {
		return nil, err
	}
	if u.places, err = places(); err != nil {
		return nil, err
	}
	if u.masks, err = tempdir.New("", "skills-mcp-masks-"); err != nil {
		return nil, err
	}
	u.places.Own = append(u.places.Own, u.masks.Path())
	u.shares.Env = u.env
	if err := u.addShares(); err != nil {
		return nil, err
	}
	if err := u.addProject(); err != nil {
		return nil, err
	}
	u.shares.Store, err = changesets.OpenStore(log)
	return u, err
}

// places are where things are on this machine.
func places() (project.Places, error) {
	dir, err := settings.ProjectDir()
	if err != nil {
		return project.Places{}, err
	}
	home, _ := os.UserHomeDir()
	state, err := statedir.Path("")
	if err != nil {
		return project.Places{}, err
	}
	own := []string{state}
	if configs, err := os.UserConfigDir(); err == nil {
		own = append(own, filepath.Join(configs, "skills-mcp"))
	}
	// Programs of one skill would change the packages of another there.
	if kept, err := environments.Dir(); err == nil {
		own = append(own, kept)
	}
	return project.Places{WorkingDir: dir, Home: home, Own: own, Hidden: paths.Rules{}.Hidden, Protected: paths.Place}, nil
}

// addProject adds the project, or what finds it for each session.
func (u *Files) addProject() error {
	from := project.Sources{}
	switch dir := u.settings.Project.Dir; {
	case dir == config.Auto && u.settings.Anywhere:
		return nil
	case dir == config.Auto:
		if from.Host = os.Getenv("CLAUDE_PROJECT_DIR"); from.Host == "" {
			u.shares.Find = u.find
			return nil
		}
	default:
		from.Named = dir
	}
	found, err := u.directories(from)
	refusal := (*project.Refusal)(nil)
	switch {
	case errors.As(err, &refusal) && refusal.Rule == project.RuleOff:
		return nil
	case refusal != nil && from.Named != "":
		return settings.AsUsage(u.settings.Refuse("project.dir", err))
	case err != nil && from.Named != "":
		return err
	case err != nil:
		u.log.Warn("there is no project", "error", err)
		return nil
	}
	u.shares.Project = found
	return nil
}

// find finds the project of a session whose client named this root, or none.
func (u *Files) find(_ context.Context, root string) []server.SharedDirectory {
	found, err := u.directories(project.Sources{Root: root, Detect: true})
	if err != nil {
		u.log.Info("there is no project", "error", err)
		return nil
	}
	u.log.Info("programs see the project", "path", found[0].Path, "access", found[0].Mode)
	return found
}

// directories returns the project and the git directory that belongs to it.
func (u *Files) directories(from project.Sources) ([]server.SharedDirectory, error) {
	dir, err := project.Find(from, u.places)
	if err == nil {
		err = project.Apart(dir, u.named)
	}
	if err != nil {
		return nil, err
	}
	base, access, err := in(u.settings, dir)
	if err != nil {
		return nil, err
	}
	if access == config.Off {
		return nil, errors.New("the project's own file has nothing of it shown")
	}
	mode := server.ShareMode(access)
	under := rules{u, base, dir}
	all, err := u.add(nil, server.SharedDirectory{Path: dir, Mode: mode}, under)
	if err != nil {
		return nil, err
	}
	git, err := u.places.GitDirectory(dir)
	if err != nil {
		u.log.Warn("git does not work in the project", "error", err)
	}
	if git == "" || err != nil {
		return all, nil
	}
	return u.add(all, server.SharedDirectory{Path: git, Mode: mode, Prefix: server.GitPrefix}, under)
}

// in returns what is hidden and protected in a project, and the access to it,
// which its own file may narrow. The settings stay as they are: a server finds
// projects while it serves.
func in(s *settings.Settings, dir string) (paths.Rules, string, error) {
	own := s.Again()
	own.Anywhere = true
	if err := own.Read(nil); err != nil {
		return paths.Rules{}, "", err
	}
	rules, err := own.RulesIn(dir)
	return rules, own.Project.Access, err
}

// add adds a directory, with what hides its secrets.
func (u *Files) add(all []server.SharedDirectory, of server.SharedDirectory, under rules) ([]server.SharedDirectory, error) {
	view := &view{of: of, rules: under}
	of.View, of.Rules = view, under.now
	_, err := view.now()
	return append(all, of), err
}

func (u *Files) closeLater(view interface{ Close() error }) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.views = append(u.views, view)
}

// addShares adds what else the operator shares.
func (u *Files) addShares() error {
	for _, share := range u.settings.Project.Shares {
		found, err := u.places.Share(share.Path + ":" + share.Access)
		if err != nil {
			return settings.AsUsage(u.settings.Refuse("project.shares", err))
		}
		u.named = append(u.named, found)
	}
	if err := project.Apart("", u.named); err != nil {
		return settings.AsUsage(u.settings.Refuse("project.shares", err))
	}
	files := map[string][]project.Share{} // by directory
	for _, share := range u.named {
		if share.File {
			dir := filepath.Dir(share.Path)
			files[dir] = append(files[dir], share)
			continue
		}
		base, err := u.settings.PathRules(share.Path)
		if err != nil {
			return err
		}
		if u.shares.Others, err = u.add(u.shares.Others, server.SharedDirectory{Path: share.Path, Mode: modeOf(share)}, rules{u, base, share.Path}); err != nil {
			return err
		}
	}
	return u.addFiles(files)
}

// addFiles adds single files, which are shown as a directory with nothing else in
// it.
func (u *Files) addFiles(files map[string][]project.Share) error {
	for dir, shares := range files {
		var names []string
		for _, share := range shares {
			if share.Access != shares[0].Access {
				return exit.Misused(errors.New("files of one directory can only be shared with the same access: " + dir))
			}
			names = append(names, filepath.Base(share.Path))
		}
		slices.Sort(names)
		view, err := project.NewFileView(u.masks.Path(), dir, names)
		if err != nil {
			return err
		}
		u.closeLater(view)
		base, err := u.settings.PathRules(dir)
		if err != nil {
			return err
		}
		u.shares.Others = append(u.shares.Others, server.SharedDirectory{Path: dir, Mode: modeOf(shares[0]), Rules: rules{u, base, dir}.now, View: view, Files: names})
	}
	slices.SortFunc(u.shares.Others, func(a, b server.SharedDirectory) int { return cmp.Compare(a.Path, b.Path) })
	return nil
}

func modeOf(share project.Share) server.ShareMode {
	if share.Access == "" {
		return server.ShareReview
	}
	return server.ShareMode(share.Access)
}

// env returns who the user is for git, which works in the directories.
func (u *Files) env(directories []string) map[string]string {
	home := u.places.Home
	options := project.IdentityOptions{Home: home, Trusted: 2}
	if len(directories) > 0 {
		options.Configs = append(options.Configs, filepath.Join(directories[0], ".git", "config"))
	}
	options.Configs = append(options.Configs, settings.UserGitConfigs(home)...)
	env := project.Identity(options)
	env["GIT_OPTIONAL_LOCKS"] = "0" // looking at the status is no change
	return env
}

// Lent returns what the server lends.
func (u *Files) Lent() server.Shares {
	if u == nil {
		return server.Shares{}
	}
	return u.shares
}

// Close removes the layers. Nothing runs any more.
func (u *Files) Close() {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, view := range u.views {
		if err := view.Close(); err != nil {
			u.log.Warn("a view of a directory cannot be removed", "error", err)
		}
	}
	if u.masks != nil {
		if err := u.masks.Close(); err != nil {
			u.log.Warn("views of directories cannot be removed", "error", err)
		}
	}
}
