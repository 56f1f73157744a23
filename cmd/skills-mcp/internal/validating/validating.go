// Package validating holds skills to the specification of Agent Skills with the
// verdicts of its reference validator, and says beside them what else is wrong.
package validating

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/listing"
)

// Report is what was found.
type Report struct {
	// Skills are those that were looked at, by their paths.
	Skills []Skill `json:"skills"`
	// Problems are sorted by file and position. Files are paths from the working
	// directory where they are below it.
	Problems []catalog.Problem `json:"problems"`

	from string // the directory that paths are relative to
}

// Skill is the verdict on one.
type Skill struct {
	// Name is empty where the entry document has none that can be used.
	Name string `json:"name,omitempty"`
	// Path is the entry document's.
	Path string `json:"path"`
	// Valid is the verdict of the reference validator.
	Valid bool `json:"valid"`
}

// Check looks at all skills in directories and archives, of which each may be one
// skill, or the entry document of one.
func Check(ctx context.Context, places []string) (*Report, error) {
	from, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return CheckFrom(ctx, from, places)
}

// CheckFrom does what [Check] does in the working directory from, which need not
// be there any more.
func CheckFrom(ctx context.Context, from string, places []string) (*Report, error) {
	r := &Report{Skills: []Skill{}, Problems: []catalog.Problem{}, from: from}
	for _, place := range places {
		if err := r.check(ctx, r.rootOf(place)); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(r.Problems, catalog.CompareProblems)
	r.Problems = slices.Compact(r.Problems) // places may overlap
	slices.SortFunc(r.Skills, func(a, b Skill) int { return strings.Compare(a.Path, b.Path) })
	r.Skills = slices.Compact(r.Skills)
	return r, nil
}

// rootOf returns the root that a place names.
func (r *Report) rootOf(place string) catalog.Root {
	if !filepath.IsAbs(place) {
		place = filepath.Join(r.from, place)
	}
	return Root(place)
}

// Root returns the root that an absolute path names: of an entry document, the
// directory.
func Root(place string) catalog.Root {
	place = filepath.Clean(place)
	if info, err := os.Stat(place); err == nil && !info.IsDir() && isEntry(place) {
		place = filepath.Dir(place)
	}
	return catalog.Root{Path: place}
}

func isEntry(file string) bool { return strings.EqualFold(filepath.Base(file), "SKILL.md") }

// check adds what is in one root. What keeps a skill out is looked for strictly,
// and what a scan does not look for also in what is served all the same.
func (r *Report) check(ctx context.Context, root catalog.Root) error {
	strict, err := catalog.Open(ctx, catalog.Options{Roots: []catalog.Root{root}, Strict: true})
	if err != nil {
		return err
	}
	defer strict.Close()
	lenient, err := catalog.Open(ctx, catalog.Options{Roots: []catalog.Root{root}})
	if err != nil {
		return err
	}
	defer lenient.Close()
	found := strict.Snapshot()
	for _, skill := range found.Skills() {
		r.Skills = append(r.Skills, Skill{Name: skill.Name, Path: r.shown(documentOf(skill)), Valid: true})
	}
	for _, p := range found.Problems() {
		r.judge(p)
	}
	for _, p := range listing.Beyond(ctx, lenient.Snapshot()) {
		if _, valid := found.Lookup(p.Skill); !valid && p.Rule == "extension-entry" {
			continue // for what is an error
		}
		p.File = r.shown(p.File)
		r.Problems = append(r.Problems, p)
	}
	for _, skill := range lenient.Snapshot().Skills() {
		r.lineEndings(skill)
	}
	if len(found.Skills()) == 0 && len(found.Problems()) == 0 {
		r.nothing(root)
	}
	return nil
}

// documentOf returns the path of a skill's entry document as problems have it.
func documentOf(skill *catalog.Skill) string {
	return filepath.Join(skill.Shown(), skill.Entry)
}

// judge adds a problem of a scan, and the verdict where it is one on a skill.
func (r *Report) judge(p catalog.Problem) {
	p.File = r.shown(p.File)
	taken := p.Rule == "name-taken"
	if taken { // nobody has to serve all that is in a directory
		p.Severity = catalog.Warning
	}
	if (taken || p.Severity == catalog.Error) && isEntry(p.File) {
		verdict := Skill{Name: p.Skill, Path: p.File, Valid: taken}
		if i := slices.IndexFunc(r.Skills, func(s Skill) bool { return s.Path == p.File }); i < 0 {
			r.Skills = append(r.Skills, verdict)
		} else {
			r.Skills[i].Valid = r.Skills[i].Valid && verdict.Valid
		}
	}
	r.Problems = append(r.Problems, p)
}

// nothing says that a root holds no skill, and nothing that is meant to be one.
func (r *Report) nothing(root catalog.Root) {
	r.add(catalog.Error, "entry-missing", root.Path, "there is no skill here: no SKILL.md in the directory, or below it")
}

// add adds a problem that only this command looks for.
func (r *Report) add(severity catalog.Severity, rule, file, message string) {
	p := catalog.Problem{Severity: severity, File: r.shown(file), Rule: rule, Message: message}
	for _, known := range catalog.Rules() {
		if known.Name == rule {
			p.Hint = known.Hint
		}
	}
	r.Problems = append(r.Problems, p)
}

// has reports whether a file breaks a rule.
func (r *Report) has(rule, file string) bool {
	return slices.ContainsFunc(r.Problems, func(p catalog.Problem) bool { return p.Rule == rule && p.File == file })
}

// Shown returns a place as paths of the report begin that are in it.
func (r *Report) Shown(place string) string { return r.shown(r.rootOf(place).Path) }

func (r *Report) shown(file string) string { return Shown(r.from, file) }

// Shown returns a path as people and programs link it from a directory.
func Shown(from, file string) string {
	if short, err := filepath.Rel(from, file); err == nil && fs.ValidPath(filepath.ToSlash(short)) {
		return short
	}
	return file
}

// Count returns how many problems there are of a severity.
func (r *Report) Count(severity catalog.Severity) (n int) {
	for _, p := range r.Problems {
		if p.Severity == severity {
			n++
		}
	}
	return n
}

// Valid returns how many skills are valid.
func (r *Report) Valid() (n int) {
	for _, skill := range r.Skills {
		if skill.Valid {
			n++
		}
	}
	return n
}
