package userfiles

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/ignored"
	"github.com/skills-mcp/skills-mcp/policy/paths"
)

// maxNamed is how many names an error lists.
const maxNamed = 5

// CheckNames refuses a directory that is to leave this machine with files whose
// names no program ever sees in a project, such as .env and id_rsa: they hold
// secrets more often than anybody means to publish them.
func CheckNames(dir fs.FS) error {
	var names []string
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if entry.IsDir() && ignored.Directory(entry.Name()) { // what package managers and version control keep
			return fs.SkipDir
		}
		if _, hidden := (paths.Rules{}).Hidden(name); !hidden {
			return nil
		}
		if names = append(names, name); entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil || len(names) == 0 {
		return err
	}
	shown := fmt.Sprintf("%q", names[:min(len(names), maxNamed)])
	if more := len(names) - maxNamed; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Errorf("it holds %s, which may be secret: take it out, or give --with-hidden", strings.Trim(shown, "[]"))
}
