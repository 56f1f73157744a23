package preparing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/catalog/needs"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/granted"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/shellword"
	"github.com/skills-mcp/skills-mcp/resources/staging"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
	"github.com/skills-mcp/skills-mcp/server"
)

// Plan is what would be prepared for a skill.
type Plan struct {
	Skill granted.Skill
	Needs needs.Needs
	// Compatibility is what its author states of it. Hosts and Variables are what its
	// files ask for and it is not granted, as they are shown.
	Compatibility    string
	Hosts, Variables []string
	// Prepared is the environment that is there, or nil, and Granted reports that
	// the skill has it.
	Prepared *environments.Environment
	Granted  bool
}

// Plans returns those of skills by their names, or of all that ask for packages
// where there is no name.
func Plans(ctx context.Context, s *settings.Settings, store *environments.Store, from *catalog.Catalog, copies *staging.Copies, names []string) (plans []Plan, err error) {
	snapshot := from.Snapshot()
	skills := snapshot.Skills()
	if len(names) > 0 {
		skills = nil
		for _, name := range names {
			skill, found := snapshot.Lookup(name)
			if !found {
				return nil, fmt.Errorf("there is no skill %q; 'skills-mcp list' shows those there are", name)
			}
			skills = append(skills, skill)
		}
	}
	for _, skill := range skills {
		plan, err := planOf(ctx, s, store, from, copies, skill)
		if err != nil && len(names) > 0 {
			return nil, err
		}
		if err == nil && (len(names) > 0 || plan.Needs.Packages()) {
			plans = append(plans, plan)
		}
	}
	return plans, nil
}

func planOf(ctx context.Context, s *settings.Settings, store *environments.Store, from *catalog.Catalog, copies *staging.Copies, skill *catalog.Skill) (Plan, error) {
	copied, err := copies.Take(ctx, skill.Dir)
	if err != nil {
		return Plan{}, fmt.Errorf("the skill %q cannot be read: %w", skill.Name, err)
	}
	defer copied.Release()
	root, err := os.OpenRoot(copied.Dir)
	if err != nil {
		return Plan{}, err
	}
	defer root.Close()
	plan := Plan{Skill: granted.Skill{Name: skill.Name, Root: from.Root(skill).Path, Place: skill.Place(), Digest: copied.Digest}, Compatibility: skill.Compatibility}
	if plan.Needs, err = needs.Find(root.FS()); err != nil {
		return Plan{}, fmt.Errorf("the skill %q cannot be read: %w", skill.Name, err)
	}
	if store != nil && plan.Needs.Packages() {
		plan.Prepared, err = store.Find(server.WantedPackages(plan.Needs))
		if err != nil && !errors.Is(err, environments.ErrNotPrepared) {
			return Plan{}, err
		}
	}
	has, err := s.Grants(skill.Name)
	plan.Granted = err == nil && has.Packages
	configured, configuredErr := granted.Configured(has)
	if err == nil && configuredErr == nil {
		plan.Hosts, plan.Variables = server.NotGranted(configured.Grants, plan.Needs)
	}
	return plan, nil
}

// Write says what would be installed, and why.
func (p Plan) Write(out io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n", terminal.Printable(p.Skill.Name))
	p.WriteNeeds(&text)
	_, err := io.WriteString(out, text.String())
	return err
}

// WriteNeeds says what the skill asks for, and by which lines.
func (p Plan) WriteNeeds(text *strings.Builder) {
	for _, kind := range []struct {
		name string
		all  []needs.Requirement
	}{{"python", p.Needs.Python}, {"npm", p.Needs.Npm}} {
		for _, r := range kind.all {
			fmt.Fprintf(text, "  %-6s  %s%s\n          %s\n", kind.name, terminal.Printable(r.Text), guessed(r), sources(r))
		}
	}
	for _, versions := range p.Needs.RequiresPython {
		fmt.Fprintf(text, "  Python itself has to be %s\n", terminal.Printable(versions))
	}
	for _, note := range p.Needs.Notes {
		fmt.Fprintf(text, "  note: %s%s\n", place(note.Source), terminal.Printable(note.Text))
	}
	if !p.Needs.Packages() {
		text.WriteString("  asks for no packages\n")
	}
	p.writeHints(text)
}

// writeHints says what the skill asks for besides, which is granted in other ways.
func (p Plan) writeHints(text *strings.Builder) {
	if p.Compatibility != "" {
		fmt.Fprintf(text, "  compatibility, as its author states it: %s\n", terminal.Printable(p.Compatibility))
	}
	for _, hint := range []struct {
		what, flags string
		names       []string
	}{{"hosts", "--host HOST", p.Hosts}, {"variables", "--secret VARIABLE --for HOST", p.Variables}} {
		if len(hint.names) > 0 {
			fmt.Fprintf(text, "  names %s that it is not granted: %s\n          where it needs them: skills-mcp grant %s %s\n",
				hint.what, terminal.Printable(strings.Join(hint.names, ", ")), shellword.Name(p.Skill.Name), hint.flags)
		}
	}
}

// Offer is what would be installed for a skill.
type Offer struct {
	Packages []environments.Package
	// Indexes are where they come from.
	Indexes []string
}

// Write lists them.
func (o Offer) Write(out io.Writer, skill string) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s from %s\n", terminal.Printable(skill), terminal.Counted(len(o.Packages), "package"), terminal.Printable(strings.Join(o.Indexes, " and ")))
	for _, p := range o.Packages {
		fmt.Fprintf(&text, "  %-6s  %s %s\n", p.Kind, terminal.Printable(p.Name), terminal.Printable(p.Version))
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func guessed(r needs.Requirement) string {
	if r.Guess {
		return "  (guess: programs import " + terminal.Printable(r.Import) + ", and nothing says which package has it)"
	}
	return ""
}

func sources(r needs.Requirement) string {
	var all []string
	for _, source := range r.Sources {
		all = append(all, strings.TrimSuffix(place(source), ": "))
	}
	why := "asked for by "
	if r.Import != "" && !r.Guess {
		why = "has " + terminal.Printable(r.Import) + ", imported by "
	} else if r.Guess {
		why = "imported by "
	}
	return why + strings.Join(all, ", ")
}

func place(source needs.Source) string {
	switch {
	case source.File == "":
		return ""
	case source.Line == 0:
		return terminal.Printable(source.File) + ": "
	}
	return fmt.Sprintf("%s:%d: ", terminal.Printable(source.File), source.Line)
}

// Describe says in one line what an environment holds.
func Describe(e environments.Environment) string {
	return fmt.Sprintf("%s, %s, %s", terminal.Counted(len(e.Packages), "package"), size(e.Bytes), e.Key[:min(len(e.Key), 19)])
}

func size(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}
