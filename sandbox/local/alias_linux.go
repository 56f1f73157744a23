//go:build amd64 || arm64

package local

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// aliasDir is where programs find names that the system does not have.
const aliasDir = "/run/skills-mcp/bin"

// aliasPython gives Python the name "python" where it has but "python3": many
// skills know no other.
func (s *system) aliasPython() error {
	l := &s.layout
	python3, found := l.look("python3")
	if _, has := l.look("python"); has || !found {
		return nil
	}
	l.alias, l.aliasDir = "python", aliasDir
	if s.tier == Full {
		l.links = append(l.links, jail.Link{Path: filepath.Join(aliasDir, l.alias), Target: python3})
	} else {
		dir, err := tempdir.New("", "skills-mcp-bin-")
		if err != nil {
			return err
		}
		s.aliases, l.aliasDir = dir, dir.Path()
		err = errors.Join(os.Symlink(python3, filepath.Join(l.aliasDir, l.alias)), os.Chmod(l.aliasDir, 0o755)) // programs may be another user
		if err != nil {
			return err
		}
	}
	l.use(l.aliasDir)
	return nil
}

func (s *system) closeAliases() {
	if s.aliases != nil {
		s.aliases.Close() // what remains is removed by the next server
		s.aliases = nil
	}
}
