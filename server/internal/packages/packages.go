// Package packages joins what the files of a skill ask for with the
// environments of packages that the user has had prepared.
package packages

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/skills-mcp/skills-mcp/catalog/needs"
	"github.com/skills-mcp/skills-mcp/internal/shellword"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
)

// maxKnown is how many versions of skills are remembered, and maxNamed how many
// packages a text names.
const (
	maxKnown = 256
	maxNamed = 12
)

// Access finds environments of skills. It is safe for use by several goroutines.
type Access struct {
	store func() *environments.Store // which returns nil where there are none

	mu    sync.Mutex
	known map[string]needs.Needs // by the digest of a version
}

// New returns the access to the environments of a store, which is asked for when it
// is needed; nil for none.
func New(store func() *environments.Store) *Access { return &Access{store: store} }

// Prepares reports whether packages can be prepared at all.
func (a *Access) Prepares() bool { return a != nil && a.store != nil && a.store() != nil }

// Needs returns what the files of a version of a skill ask for, of which there
// is a copy in a directory. They are read once for each digest.
func (a *Access) Needs(digest, dir string) (needs.Needs, error) {
	a.mu.Lock()
	found, known := a.known[digest]
	a.mu.Unlock()
	if known {
		return found, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return needs.Needs{}, err
	}
	defer root.Close()
	if found, err = needs.Find(root.FS()); err != nil {
		return needs.Needs{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil || len(a.known) >= maxKnown {
		a.known = map[string]needs.Needs{} // which costs another look
	}
	a.known[digest] = found
	return found, nil
}

// Find returns the environment that was prepared for a version of a skill, or
// [environments.ErrNotPrepared].
func (a *Access) Find(digest, dir string) (*environments.Environment, error) {
	if !a.Prepares() {
		return nil, environments.ErrNotPrepared
	}
	found, err := a.Needs(digest, dir)
	if err != nil {
		return nil, err
	}
	if !found.Packages() {
		return nil, environments.ErrNotPrepared
	}
	return a.store().Find(Wanted(found))
}

// Wanted returns what an environment is to hold for what a skill needs.
func Wanted(n needs.Needs) environments.Wanted {
	wanted := environments.Wanted{
		Python: needs.Texts(n.Python), Npm: needs.Texts(n.Npm), RequiresPython: n.RequiresPython,
		NpmManifest: n.NpmManifest, NpmLock: n.NpmLock, Hashes: map[string][]string{},
	}
	for _, r := range n.Python {
		if len(r.Hashes) > 0 {
			wanted.Hashes[r.Text] = r.Hashes
		}
	}
	return wanted
}

// Text says what a skill asks for and has, or nothing where it asks for nothing.
// What it has is nil where nothing is granted or prepared.
func Text(skill, backend string, asked needs.Needs, has *environments.Environment) string {
	switch {
	case !asked.Packages():
		return ""
	case has != nil:
		var all []string
		for _, p := range has.Packages {
			all = append(all, p.Name+" "+p.Version)
		}
		return fmt.Sprintf("Prepared packages: %s. Programs have them without installing anything, offline.", few(all))
	}
	var all []string
	for _, r := range slices.Concat(asked.Python, asked.Npm) {
		name := r.Name
		if r.Guess {
			name += " (a guess)"
		}
		all = append(all, name)
	}
	return fmt.Sprintf("Its files ask for packages that are not prepared: %s. %s", few(all), Remedy(skill, backend))
}

// Remedy says how the user has packages prepared, for a backend.
func Remedy(skill, backend string) string {
	return "Programs cannot install any: the user has them prepared with `" + Command(skill, backend) + "`."
}

// Command is what the user runs to have packages prepared. Those for containers
// are others than those for this machine, where the command prepares by itself.
func Command(skill, backend string) string {
	command := "skills-mcp prepare "
	if backend == "docker" || backend == "podman" {
		command += "--sandbox=docker "
	}
	return command + shellword.Name(skill)
}

// few lists the first of what others wrote.
func few(all []string) string {
	more := ""
	if len(all) > maxNamed {
		all, more = all[:maxNamed], fmt.Sprintf(" and %d more", len(all)-maxNamed)
	}
	return display.Line(strings.Join(all, ", ")) + more
}
