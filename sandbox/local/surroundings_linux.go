//go:build amd64 || arm64

package local

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
)

// surroundings are what a layout depends on besides the file system.
type surroundings struct {
	path          string // PATH
	home, project string // may be empty
	show          []string
	// asOthers reports whether programs run as another user than the server's,
	// so that what others may not read they cannot.
	asOthers bool
	// inPlace reports whether these others see files in the server's own file
	// system, so that they must be able to go there.
	inPlace bool
}

func (o Options) surroundings() surroundings {
	s := surroundings{path: cmp.Or(o.Path, os.Getenv("PATH")), project: o.Project, show: o.Show}
	if s.project == "" {
		s.project, _ = os.Getwd()
	}
	s.project, _ = filepath.EvalSymlinks(s.project) // none is as good as one that cannot be seen
	s.home, _ = os.UserHomeDir()
	s.home, _ = filepath.EvalSymlinks(s.home)
	return s
}

// readable reports whether programs can use a file or directory that the
// server shows.
func (s surroundings) readable(info fs.FileInfo) bool {
	needed := fs.FileMode(0o004)
	if info.IsDir() {
		needed = 0o005
	}
	return !s.asOthers || info.Mode()&needed == needed
}

// reachable refuses what programs cannot go to.
func (s surroundings) reachable(name string) error {
	if dir := filepath.Dir(name); s.inPlace && !isPublic(dir) {
		return fmt.Errorf("programs are another user, who may not go to %s", dir)
	}
	return nil
}

// ownPlaces are those that a run has for itself, and those that are no place
// for programs.
var ownPlaces = []string{"/dev", "/etc", "/proc", "/run", "/sys", "/var/run", "/var/tmp", skillDir, workspace, private}

// mayShow refuses places where nothing of the host may be shown.
func (s surroundings) mayShow(name string) error {
	for _, place := range ownPlaces {
		if pathname.Within(name, place) {
			return fmt.Errorf("it is in %s, which programs have for themselves", place)
		}
	}
	if strings.ContainsRune(name, os.PathListSeparator) {
		return errors.New("variables that list directories could not name it")
	}
	if name == "/" || name == "/tmp" {
		return fmt.Errorf("%s is everyone's", name)
	}
	return s.reachable(name)
}

// holdsOthers refuses directories that hold more than an installation.
func (s surroundings) holdsOthers(dir string) error {
	if filepath.Base(dir) == ".local" {
		return fmt.Errorf("%s holds the user's files", dir)
	}
	for _, place := range []string{s.home, s.project, "/home", "/root", "/tmp", "/var/lib"} {
		if place != "" && pathname.Within(place, dir) {
			return fmt.Errorf("%s holds %s", dir, place)
		}
	}
	return nil
}
