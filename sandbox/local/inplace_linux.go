//go:build amd64 || arm64

package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// maxInPlace is how many grants a share may take that is read where it is.
const maxInPlace = 10_000

// inPlace reports whether programs can read a share where it is.
func (s *system) inPlace(share sandbox.Share) bool {
	if share.Layers[len(share.Layers)-1] != share.Path || s.asNobody && !isPublic(share.Path) {
		return false
	}
	_, err := readGrants(share)
	return err == nil
}

// inPlaceGrants returns what programs may do in shares in the tier [Restricted].
func inPlaceGrants(shares []sandbox.Share) (grants []jail.Grant) {
	for _, share := range shares {
		switch {
		case share.Access == sandbox.AccessOff:
		case share.Access == sandbox.AccessReview: // it is a copy
			grants = append(grants, jail.Grant{Path: share.Path, Write: true})
		default:
			own, err := readGrants(share)
			if err == nil { // else it is not to be read any more
				grants = append(grants, own...)
			}
		}
	}
	return grants
}

// readGrants returns what lets programs read a share where it is, but for what
// the layers above the user's hide or replace. No right can be taken away below a
// directory that was granted, so that each directory in which something is hidden
// is granted entry by entry. The names that are hidden can be listed.
func readGrants(share sandbox.Share) ([]jail.Grant, error) {
	g := inPlaceGranter{masks: share.Layers[:len(share.Layers)-1]}
	g.grants = append(g.grants, jail.Grant{Path: share.Path, List: true, Exact: true})
	err := g.add(share.Path, ".")
	return g.grants, err
}

type inPlaceGranter struct {
	masks  []string
	grants []jail.Grant
}

var errTooManyGrants = errors.New("too much is hidden")

// add grants a directory, or what is in it.
func (g *inPlaceGranter) add(top, name string) error {
	masked, hidden, err := g.masked(name)
	if err != nil || hidden {
		return err
	}
	if !masked {
		if len(g.grants) >= maxInPlace {
			return errTooManyGrants
		}
		g.grants = append(g.grants, jail.Grant{Path: filepath.Join(top, name), Exact: true})
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(top, name))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Type()&fs.ModeSymlink != 0 { // judged by where it leads
			continue
		}
		if err := g.add(top, filepath.Join(name, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// masked reports whether a name is in a layer above the user's: as a directory,
// in which something may be hidden, or as anything else, by which it is.
func (g *inPlaceGranter) masked(name string) (masked, hidden bool, err error) {
	for _, mask := range g.masks {
		info, err := os.Lstat(filepath.Join(mask, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return false, false, err
		case !info.IsDir() || isOpaque(filepath.Join(mask, name)):
			return false, true, nil
		default:
			masked = true
		}
	}
	return masked, false, nil
}

// isOpaque reports whether a directory of a layer hides all that is below it.
func isOpaque(dir string) bool {
	value := make([]byte, 2)
	n, err := unix.Lgetxattr(dir, "user.overlay.opaque", value)
	return err == nil && string(value[:n]) == "y"
}
