package shares

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// Place is a path in a directory of the user.
type Place struct {
	Directory
	// Project says that the directory is the project.
	Project bool
	// Inside is relative to the directory, clean and slash-separated; "." is the
	// directory.
	Inside string
}

// InProject returns a place in the caller's project by its clean, relative path,
// or false where there is no project.
func (a *Access) InProject(ctx context.Context, inside string) (Place, bool) {
	of := a.Project(ctx)
	if of == nil {
		return Place{}, false
	}
	return Place{Directory: *of, Project: true, Inside: inside}, true
}

// At returns a place by its absolute path, or false for a path that is in none of
// the directories that the caller is lent.
func (a *Access) At(ctx context.Context, absolute string) (Place, bool) {
	if a == nil || !filepath.IsAbs(absolute) {
		return Place{}, false
	}
	clean := filepath.Clean(absolute)
	directories, hasProject := a.directories(ctx)
	for i, of := range directories {
		if !pathname.Within(clean, of.Path) {
			continue
		}
		inside, err := filepath.Rel(of.Path, clean)
		if err != nil {
			return Place{}, false
		}
		return Place{Directory: of, Project: hasProject && i == 0, Inside: filepath.ToSlash(inside)}, true
	}
	return Place{}, false
}

// Shown is the path as people and models know it: relative to the project, or
// absolute.
func (p Place) Shown() string {
	if p.Project {
		return p.Inside
	}
	return path.Join(filepath.ToSlash(p.Path), p.Inside)
}

// to returns another place in the same directory.
func (p Place) to(inside string) Place {
	p.Inside = inside
	return p
}

const hintHidden = "Do without, or ask the user for what is needed of it, or to show it by project.shown in their configuration."

// hidden is the failure of a path that programs do not see, by its name or by
// what the directory has there; nil for others.
func (p Place) hidden(masked []project.Masked) error {
	if reason, hidden := p.Rules().Hidden(p.Prefix + p.Inside); hidden && p.Inside != "." {
		return p.notShown(p.Inside, reason)
	}
	at := slices.IndexFunc(masked, func(m project.Masked) bool {
		return !m.Replaced && (p.Inside == m.Path || strings.HasPrefix(p.Inside, m.Path+"/"))
	})
	if at < 0 {
		return nil
	}
	return p.notShown(masked[at].Path, masked[at].Reason)
}

func (p Place) notShown(inside, reason string) error {
	return failure.New(failure.FileNotFound, hintHidden, "%s is hidden on purpose: it %s", shownPath(p.to(inside)), reason)
}

// UppersOf returns where the changes of a workspace are, which count for its
// limits.
func (a *Access) UppersOf(handle string) (dirs []string) {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, set := range a.sets[handle] {
		dirs = append(dirs, filepath.Join(set.Dir(), sandbox.UpperDir))
	}
	return dirs
}
