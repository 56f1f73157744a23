// Package library shows programs of no skill the skills of a catalog, all of them
// together.
//
// Such a program has nothing of a skill but its files. So it sees none of a skill
// that could keep some of them from it, or of which a user is to be asked first.
package library

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/policy/approval"
	"github.com/skills-mcp/skills-mcp/resources/staging"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// maxLeftOut is how many skills that are not shown a result names.
const maxLeftOut = 10

// maxAttempts is how often skills are looked at again that change meanwhile.
const maxAttempts = 3

// Access lends libraries. It is safe for use by several goroutines. Nil lends none.
type Access struct {
	Skills  skills.Access
	Copies  *staging.Copies
	Sandbox sandbox.Backend
}

// Loan is the library of one run. A nil Loan is of a run that has none.
type Loan struct {
	library *staging.Library // nil where the sandbox shows none
	report  Shown
}

// Report is what a run's result says of its library.
type Report struct {
	// Library is nil where the run was to have none.
	Library *Shown `json:"library,omitempty"`
}

// Shown is a library as a run saw it.
type Shown struct {
	// Path is where programs saw it, or empty.
	Path string `json:"path,omitempty"`
	// Skills is how many they saw, and LeftOut are some that they did not.
	Skills  int       `json:"skills"`
	LeftOut []LeftOut `json:"leftOut,omitempty"`
	Omitted int       `json:"leftOutOmitted,omitempty"`
	// Reason says why there was none.
	Reason string `json:"reason,omitempty"`
}

// LeftOut is a skill that a run did not see.
type LeftOut struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// ReportSchema describes the properties of a [Report].
const ReportSchema = `"library": {"type": "object", "description": "The skills that the program saw together; absent where it was to see none.", "properties": {
      "path": {"type": "string", "description": "Where it saw them, each below its name; absent where it did not."},
      "skills": {"type": "integer"},
      "leftOut": {"type": "array", "description": "Skills that are not there; name one to run it.", "items": {"type": "object", "properties": {
        "name": {"type": "string"}, "reason": {"type": "string"}
      }, "required": ["name", "reason"]}},
      "leftOutOmitted": {"type": "integer", "description": "How many more of them there are."},
      "reason": {"type": "string", "description": "Why it saw none."}
    }, "required": ["skills"]}`

// Take lends the skills as they are now. The caller releases them. Errors are those
// of [staging.Copies.TakeLibrary].
func (a *Access) Take(ctx context.Context) (*Loan, error) {
	if a == nil {
		return nil, nil
	}
	loan := &Loan{}
	info := a.Sandbox.Info()
	if info.Library == "" {
		loan.report.Reason = "The sandbox " + info.Backend + " (tier " + info.Tier + ") cannot show skills at " + sandbox.LibraryDir + "."
		return loan, nil
	}
	for attempt := 0; ; attempt++ {
		open, closed, err := a.divide(ctx)
		if err != nil {
			return nil, err
		}
		library, err := a.Copies.TakeLibrary(ctx, open)
		if err != nil {
			return nil, err
		}
		if attempt+1 < maxAttempts && a.refresh(ctx, library.LeftOut) {
			library.Release()
			continue
		}
		loan.library = library
		loan.report = Shown{Path: info.Library, Skills: library.Skills}
		for _, left := range library.LeftOut {
			loan.report.leave(left.Name, left.Reason)
		}
		for _, left := range closed {
			loan.report.leave(left.Name, left.Reason)
		}
		return loan, nil
	}
}

// divide returns the skills that may be shown, and the others.
func (a *Access) divide(ctx context.Context) (open []*catalog.Skill, closed []LeftOut, err error) {
	var dirs []string // of the others
	for _, skill := range a.Skills.Snapshot().Skills() {
		if skill.Unread() { // an index decides nothing
			if skill, err = a.Skills.Find(ctx, skill.Name); ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			if err != nil {
				continue // it is none any more
			}
		}
		if reason := a.reserved(skill); reason != "" {
			closed, dirs = append(closed, LeftOut{skill.Name, reason}), append(dirs, skill.Dir)
			continue
		}
		open = append(open, skill)
	}
	above := directoriesAbove(dirs)
	open = slices.DeleteFunc(open, func(skill *catalog.Skill) bool {
		if len(above) == 0 || !above[realPath(skill.Dir)] {
			return false
		}
		closed = append(closed, LeftOut{skill.Name, "holds a skill that is not there"})
		return true
	})
	return open, closed, nil
}

// directoriesAbove returns all directories that others lie in.
func directoriesAbove(dirs []string) map[string]bool {
	above := map[string]bool{}
	for _, dir := range dirs {
		for dir = filepath.Dir(realPath(dir)); !above[dir]; dir = filepath.Dir(dir) {
			above[dir] = true
		}
	}
	return above
}

// realPath returns a path without links, or as it is where there is nothing.
func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// reserved says why a skill is for its own programs alone, or nothing.
func (a *Access) reserved(skill *catalog.Skill) string {
	consent := a.Skills.Consent
	switch {
	case skill.UserOnly:
		return "is for users to begin with"
	case !a.Skills.Open(skill):
		return "does not allow to read all of its files and to run some, by its allowed-tools"
	case consent.Needed(approval.Read, skill.Name), consent.Needed(approval.Run, skill.Name):
		return "may not be used without asking the user"
	}
	return ""
}

// refresh has the catalog look again at skills that were changed since it did, and
// reports whether there were any.
func (a *Access) refresh(ctx context.Context, leftOut []staging.LeftOut) (changed bool) {
	for _, left := range leftOut {
		if left.Changed {
			_, _, err := a.Skills.Catalog.Refresh(ctx, left.Name)
			changed = changed || err == nil
		}
	}
	return changed
}

// leave adds a skill that is not shown.
func (s *Shown) leave(name, reason string) {
	if len(s.LeftOut) == maxLeftOut {
		s.Omitted++
		return
	}
	s.LeftOut = append(s.LeftOut, LeftOut{display.Line(name), reason})
}

// Specify adds the library to what is to be run.
func (l *Loan) Specify(spec *sandbox.Spec) {
	if l != nil && l.library != nil {
		spec.Library = l.library.Dir
	}
}

// Report returns what a result says.
func (l *Loan) Report() Report {
	if l == nil {
		return Report{}
	}
	return Report{Library: &l.report}
}

// Release ends the use of the library.
func (l *Loan) Release() {
	if l != nil && l.library != nil {
		l.library.Release()
	}
}

// WriteText writes the same as the structure, for hosts that show only text.
func (r Report) WriteText(text *strings.Builder) {
	shown := r.Library
	switch {
	case shown == nil:
		return
	case shown.Path == "":
		fmt.Fprintf(text, "no skills were shown: %s\n", shown.Reason)
		return
	}
	fmt.Fprintf(text, "skills at %s: %d", shown.Path, shown.Skills)
	for i, left := range shown.LeftOut {
		separator := ";"
		if i == 0 {
			separator = "; not there:"
		}
		fmt.Fprintf(text, "%s %s (it %s)", separator, left.Name, left.Reason)
	}
	if shown.Omitted > 0 {
		fmt.Fprintf(text, "; and %d more", shown.Omitted)
	}
	text.WriteByte('\n')
}
