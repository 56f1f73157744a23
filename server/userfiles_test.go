package server_test

import (
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/policy/paths"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
	"github.com/skills-mcp/skills-mcp/server"
)

// share lends directories of the user, of which programs see copies, with the
// options project=MODE, share=MODE, write=GLOB, protected=GLOB, user=DIR, which
// has both and the change sets and outlives the server, keep=BYTES of what is
// replaced, and wait=TIME for programs that use the same files.
func (f *fixture) share(t testing.TB, opts *server.Options, options []string) {
	t.Helper()
	var of paths.Options
	var held changes.Options
	modes, user := map[string]server.ShareMode{}, ""
	for _, option := range options {
		switch name, value, _ := strings.Cut(option, "="); name {
		case "project", "share":
			modes[name] = server.ShareMode(value)
		case "write":
			of.Writable = append(of.Writable, value)
		case "protected":
			of.Protected = append(of.Protected, value)
		case "user":
			user = value
		case "wait":
			wait, err := time.ParseDuration(value)
			must(t, err)
			held.Wait, opts.Shares.Wait = wait, wait
		case "keep":
			bytes, err := strconv.ParseInt(value, 10, 64)
			must(t, err)
			held.KeepBytes = bytes
		}
	}
	if len(modes) == 0 {
		return
	}
	if user == "" {
		user = userDir(t)
	}
	f.project, f.shared, f.changesDir = filepath.Join(user, "project"), filepath.Join(user, "share"), filepath.Join(user, "changes")
	rules, err := paths.New(of)
	must(t, err)
	held.Now, held.Logger = f.clock, slog.New(slog.DiscardHandler)
	opts.Shares.Store, err = changes.Open(f.changesDir, held)
	must(t, err)
	for name, list := range map[string]*[]server.SharedDirectory{"project": &opts.Shares.Project, "share": &opts.Shares.Others} {
		if mode := modes[name]; mode != "" {
			*list = append(*list, lent(t, filepath.Join(user, name), mode, rules))
		}
	}
}

// userDir returns a directory with an empty project and an empty share.
func userDir(t testing.TB) string {
	t.Helper()
	user, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, name := range []string{"project", "share"} {
		writeFile(t, filepath.Join(user, name, "README.md"), []byte("A "+name+".\n"))
	}
	return user
}

// lent is a directory as programs are to see it.
func lent(t testing.TB, dir string, mode server.ShareMode, rules paths.Rules) server.SharedDirectory {
	t.Helper()
	view, err := project.NewView(project.ViewOptions{Dir: dir, Base: t.TempDir(), Hidden: rules.Hidden})
	must(t, err)
	t.Cleanup(func() { _ = view.Close() })
	return server.SharedDirectory{Path: dir, Mode: mode, View: view, Rules: func() paths.Rules { return rules }}
}
