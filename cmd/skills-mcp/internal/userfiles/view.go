package userfiles

import (
	"context"
	"slices"
	"sync"

	"github.com/skills-mcp/skills-mcp/policy/paths"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
	"github.com/skills-mcp/skills-mcp/server"
)

// rules are those of a directory, to which belongs what the user grants while the
// server runs.
type rules struct {
	files *Files
	paths.Rules
	dir string // to which the paths that they judge are relative
}

// now returns the rules as they are now.
func (r rules) now() paths.Rules { return r.With(r.files.settings.PlacesIn(r.dir)) }

// view is a [project.View] that is made again where other files hold secrets.
type view struct {
	of    server.SharedDirectory
	rules rules

	mu      sync.Mutex
	current *project.View
	secrets []string
}

// Acquire returns what programs see now.
func (v *view) Acquire(ctx context.Context) (*project.Lease, error) {
	current, err := v.now()
	if err != nil {
		return nil, err
	}
	return current.Acquire(ctx)
}

// now returns the view that hides what is to be hidden now. An earlier one stays,
// since programs may see it, until the server ends.
func (v *view) now() (*project.View, error) {
	secrets := v.rules.files.settings.PlacesIn(v.rules.dir).Secrets
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.current != nil && slices.Equal(secrets, v.secrets) {
		return v.current, nil
	}
	hiding := v.rules.With(paths.Places{Secrets: secrets})
	current, err := project.NewView(project.ViewOptions{
		Dir: v.of.Path, Base: v.rules.files.masks.Path(),
		Hidden: func(path string) (string, bool) { return hiding.Hidden(v.of.Prefix + path) },
	})
	if err != nil {
		return nil, err
	}
	v.rules.files.closeLater(current)
	v.current, v.secrets = current, secrets
	return current, nil
}
