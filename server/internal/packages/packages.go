// Package packages joins what the files of a skill ask for with the
// environments of packages that the user has had prepared.
package packages

import (
	"io/fs"

	"github.com/skills-mcp/skills-mcp/catalog/needs"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
)

// Access finds environments of skills. The nil Access finds none. It is safe
// for use by several goroutines.
type Access struct {
	Store *environments.Store
}

// Prepared is what one version of a skill asks for and has.
type Prepared struct {
	Needs needs.Needs
	// Environment is nil where nothing is prepared for what is asked for now.
	Environment *environments.Environment
}

// Missing reports whether packages are asked for and not prepared.
func (p Prepared) Missing() bool { return p.Environment == nil && p.Needs.Packages() }

// Of returns what the version of a skill with a digest, whose files are given,
// asks for and has. What files ask for is read once for each digest.
func (a *Access) Of(digest string, files fs.FS) Prepared { return Prepared{} }

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
