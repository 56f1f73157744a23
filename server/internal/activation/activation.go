// Package activation writes what a model reads when a skill is activated, by
// tool or by prompt: the instructions, and what there is to follow them with.
//
// Instructions and all that is shown of a skill are its author's words, kept
// within the element that says so.
package activation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/catalog/needs"
	"github.com/skills-mcp/skills-mcp/internal/lazyregexp"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/staging"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server/internal/access"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/requirement"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// maxListedFiles is how many files an activation names.
const maxListedFiles = 200

// placeholder stands in instructions for what the user said.
const placeholder = "$ARGUMENTS"

// Writer writes activations.
type Writer struct {
	Skills       skills.Access
	Requirements *requirement.Finder
	// Shares are the user's own directories; nil for none.
	Shares *shares.Access
	// Access is what skills are granted, Needs what the files of a version ask for,
	// of which Copies has a copy.
	Access *access.Access
	Needs  func(digest, dir string) (needs.Needs, error)
	Copies *staging.Copies
	// Sandbox runs programs, if any can be run.
	Sandbox sandbox.Backend
	// Shown is how many bytes of a skill's instructions are shown at once.
	Shown func(skill string) int64
	// Memory remembers what was activated; nil for none.
	Memory Memory
	// Cut has the entry documents of which the log says that they are cut.
	Cut *sync.Map
}

// Memory remembers the names of skills that were activated in a session.
type Memory interface {
	// Names returns them, the last one last.
	Names() []string
	Add(name string)
}

// Remember notes that a model has read what activates a skill.
func (w Writer) Remember(skill *catalog.Skill) {
	if w.Memory != nil {
		w.Memory.Add(skill.Name)
	}
}

// Before returns the skills that were activated in the session and that there are, the
// last one last: of those that models are told of.
func (w Writer) Before() (names []string) {
	if w.Memory == nil {
		return nil
	}
	snapshot := w.Skills.Snapshot()
	for _, name := range w.Memory.Names() {
		if skill, ok := snapshot.Lookup(name); ok && !skill.UserOnly {
			names = append(names, name)
		}
	}
	return names
}

// page is one activation.
type page struct {
	Writer
	strings.Builder
	skill    *catalog.Skill
	dir      *contained.Dir
	grants   *policy.Grants
	files    []contained.Entry
	more     bool // files than these
	snapshot *catalog.Snapshot
	// searched counts the paths that were looked for in all skills.
	searched int
	tools    []catalog.Tool // that can be called
	granted  access.Granted
}

// Activate returns what a skill is, for what the user said.
func (w Writer) Activate(ctx context.Context, skill *catalog.Skill, arguments string) (Activation, error) {
	dir, err := skills.Open(skill)
	if err != nil {
		return Activation{}, err
	}
	defer dir.Close()
	read, err := skills.ReadInstructions(skill, dir)
	if err != nil {
		return Activation{}, err
	}
	p := page{Writer: w, skill: skill, dir: dir, grants: w.Skills.Grants(skill), snapshot: w.Skills.Snapshot()}
	if err := p.write(ctx, read); err != nil {
		return Activation{}, err
	}
	shown, next := p.shown(read)
	// What is ours comes first: hosts cut long results at their end.
	text := fmt.Sprintf("<skill_content name=%q>\nBase directory for this skill: %s\n\n<skill_runtime>\n%s</skill_runtime>\n\n%s\n</skill_content>",
		skill.Name, p.base(), sealed(p.String()), sealed(strings.TrimSpace(withArguments(shown, arguments))))
	return Activation{Text: text, skill: skill, tools: p.tools, next: next, entries: p.grants.Entries(), granted: p.granted, shown: p.forCard()}, nil
}

// base is where the skill's files are: as programs see them, or where none run,
// to readResource.
func (p *page) base() string {
	info := p.Sandbox.Info()
	if !info.Runs() {
		return resources.URI(p.skill, ".")
	}
	return info.SkillDir
}

// shown returns the instructions, or as much of them as is shown at once and where
// the rest is, the offset too.
func (p *page) shown(read skills.Instructions) (text string, rest int64) {
	head, rest := read.Head(p.Shown(p.skill.Name))
	if rest == 0 {
		return head, 0
	}
	if _, told := p.Cut.LoadOrStore(p.skill.Name+"\x00"+p.skill.Entry, true); !told {
		p.Skills.Log.Warn("instructions are longer than what is shown at once", "skill", p.skill.Name, "file", p.skill.Entry, "bytes", read.Size, "shown", len(head))
	}
	notice := fmt.Sprintf("[Truncated: the instructions go on at byte %d of %d. Before you follow them, read on with readResource {\"name\": %q, \"path\": %q, \"offset\": %d}.",
		rest, read.Size, p.skill.Name, p.skill.Entry, rest)
	if strings.Contains(read.Body[min(len(head), len(read.Body)):], placeholder) {
		notice += " " + placeholder + " in there is what the user said."
	}
	return strings.TrimRight(head, "\n") + "\n\n" + notice + "]\n", rest
}

// sealed keeps a text from closing the element that it is wrapped in.
func sealed(text string) string { return sealer().ReplaceAllString(text, "&lt;$1") }

var sealer = lazyregexp.New(`(?i)<(/?skill_(?:content|runtime))`)

// write writes what there is besides the instructions.
func (p *page) write(ctx context.Context, read skills.Instructions) error {
	if read.Fault != "" {
		fmt.Fprintf(p, "The frontmatter is broken at the moment and was taken as it was before (%s).\n", display.Line(read.Fault))
	}
	if err := p.writeFiles(); err != nil {
		return err
	}
	p.writeTools()
	p.writeRights(ctx)
	p.writeScripts(ctx, read.Body)
	if p.Sandbox.Info().Runs() && (p.Skills.Policy.Mode == policy.Log || p.grants.Execute()) {
		p.writeGranted(ctx)
		if missing := requirement.Text(p.Requirements.OfSkill(ctx, p.skill, p.files)); missing != "" {
			fmt.Fprintf(p, "%s Do without the programs that need them, or tell the user what to install.\n", missing)
		}
	}
	return nil
}

// writeFiles lists the skill's files, directories left out.
func (p *page) writeFiles() error {
	entries, more, err := p.dir.List(".", skills.ListDepth)
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, entry := range entries {
		switch {
		case entry.Dir: // there may be others in one that lies too deep
			more = more || strings.Count(entry.Path, "/")+1 == skills.ListDepth
			continue
		case len(p.files) == maxListedFiles:
			more = true
			continue
		case entry.Path != p.skill.Entry:
			fmt.Fprintf(&list, "- %s (%s)\n", display.Path(entry.Path), display.Size(entry.Size))
		}
		p.files = append(p.files, entry)
	}
	p.more = more
	if list.Len() == 0 && !more {
		p.WriteString("This skill has no files besides these instructions.\n")
		return nil
	}
	fmt.Fprintf(p, "Files of this skill (read one with readResource {\"name\": %q, \"path\": …}):\n%s", p.skill.Name, &list)
	if more {
		p.WriteString("- … and more: readResource with a directory as `path` lists it\n")
	}
	return nil
}

// writeTools shows the tools of a tools.json, with their schemas.
func (p *page) writeTools() {
	if !p.skill.HasTools {
		return
	}
	tools, faults, err := skills.ReadTools(p.skill, p.dir)
	if err != nil {
		fmt.Fprintf(p, "Its tools.json cannot be used: %s\n", display.Line(failure.Of(err).Message))
		return
	}
	p.tools = tools
	fmt.Fprintf(p, "Tools (call one with exec {\"name\": %q, \"tool\": …, \"input\": {…}}):\n", p.skill.Name)
	for _, t := range tools {
		fmt.Fprintf(p, "- %s: %s\n  input schema: %s\n", t.Name, display.Line(t.Description), compact(t.InputSchema))
	}
	if len(faults) > 0 {
		fmt.Fprintf(p, "Left out of its tools.json, because of faults that its author has to correct: %d, the first because %s\n", len(faults), display.Line(faults[0]))
	}
}

// compact takes the white space out of JSON that is known to be valid.
func compact(raw []byte) string {
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		return string(raw)
	}
	return out.String()
}

// writeRights says what the skill may do and what runs it.
func (p *page) writeRights(ctx context.Context) {
	if p.grants != nil {
		entries := "nothing"
		if list := p.grants.Entries(); len(list) > 0 {
			entries = strings.Join(list, ", ")
		}
		fmt.Fprintf(p, "Allowed tools: %s. Anything else is denied.\n", display.Line(entries))
	}
	if p.skill.Compatibility != "" {
		fmt.Fprintf(p, "Compatibility, as the author states it: %s\n", display.Line(p.skill.Compatibility))
	}
	info := p.Sandbox.Info()
	if !info.Runs() {
		fmt.Fprintf(p, "Execution: off. %s\n", info.Unavailable)
		return
	}
	start, project := ", where programs start and leave their results", p.Shares.Project(ctx)
	if project != nil {
		start = ""
	}
	fmt.Fprintf(p, "Execution: exec runs scripts with this skill's directory at %s (do not write there) and a workspace at %s%s. Sandbox: %s, tier %s. %s\n",
		info.SkillDir, info.Workspace, start, info.Backend, info.Tier, info.Notice)
	if project != nil {
		fmt.Fprintf(p, "Project: %s, $PROJECT to programs, which start there. %s\n", display.Path(project.Path), project.Mode.Sentence())
	}
	for _, other := range p.Shares.Further() {
		fmt.Fprintf(p, "Shared too: %s. %s\n", display.Path(other.Path), other.Mode.Sentence())
	}
}

// withArguments puts in what the user said: every placeholder is replaced;
// where there is none, arguments that were given are appended.
func withArguments(body, arguments string) string {
	if strings.Contains(body, placeholder) {
		return strings.ReplaceAll(body, placeholder, arguments)
	}
	if arguments == "" {
		return body
	}
	return strings.TrimRight(body, "\n") + "\n\nARGUMENTS: " + arguments + "\n"
}
