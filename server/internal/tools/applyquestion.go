package tools

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/skills-mcp/skills-mcp/policy/approval"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/server/internal/consent"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
)

// Bounds of what a question shows, and of what one answer covers for longer
// than once: no more paths than a reader takes in.
const (
	diffBytesAsked  = 6 << 10
	maxPathsCovered = 20
)

// whoAsks is a question of those whose changes are in a set. What is known of
// one version of one skill alone can be answered for longer than once.
func whoAsks(set *shares.Set) (question consent.Question, alone bool) {
	question = consent.Question{Kind: approval.Apply, Skill: set.Target().Skill}
	authors := set.Authors()
	if len(authors) == 1 {
		one := authors[0]
		question.Skill, question.Dir, question.Digest = one.Skill, one.Dir, one.Digest
		return question, true
	}
	question.Unattributed = len(authors) == 0
	for _, author := range authors {
		question.Others = append(question.Others, author.Skill)
	}
	return question, false
}

// question is what a user is asked before what is held at paths is applied. What
// is looked at is what is applied: it has the same id.
func (a applier) question(ctx context.Context, set *shares.Set, arguments applyArguments) (consent.Question, error) {
	question, alone := whoAsks(set)
	if !a.door.MayAsk(question) {
		return question, nil
	}
	held, err := set.HeldAs(ctx, arguments.Changes)
	if err != nil {
		return question, err
	}
	diff, err := set.Diff(ctx, arguments.Paths, diffBytesAsked)
	if err != nil {
		return question, err
	}
	if diff.ID != held.ID { // a run has changed it since
		_, err := set.HeldAs(ctx, arguments.Changes)
		return question, err
	}
	files := chosen(held, arguments.Paths)
	if len(files) == 0 {
		return question, failure.New(failure.InvalidArguments, "Give paths as `held` has them, or none for all.", "nothing that can be applied is held there")
	}
	target := set.Target().Path
	question.Title = "Write the changes " + diff.ID + " to " + display.Path(target) + "."
	question.Detail = shownChanges(question, files, diff)
	if alone && held.OmittedFiles == 0 {
		question.Grant, question.Covers = covered(target, files)
	}
	return question, nil
}

// shownChanges lists what is to be done, and then how.
func shownChanges(question consent.Question, files []changes.Change, diff changes.Diff) string {
	var text strings.Builder
	if len(question.Others) > 0 {
		fmt.Fprintf(&text, "programs of more than one skill, or version of it, worked on these files: %s\n", strings.Join(slices.Compact(slices.Sorted(slices.Values(question.Others))), ", "))
	}
	fmt.Fprintf(&text, "%s:\n", display.Counted(len(files), "change"))
	for _, change := range files[:min(len(files), maxPathsCovered)] {
		fmt.Fprintf(&text, "%s %s\n", change.Kind, strconv.Quote(change.Path))
	}
	if more := len(files) - maxPathsCovered; more > 0 {
		fmt.Fprintf(&text, "and %d more\n", more)
	}
	text.WriteString("\n" + diff.Text)
	if diff.Omitted > 0 {
		fmt.Fprintf(&text, "\n%d more changes are not shown here; skills-mcp changes %s shows them.", diff.Omitted, diff.ID)
	}
	return text.String()
}

// chosen returns what of the held changes is at paths, or below them; all for no
// path.
func chosen(held changes.Held, paths []string) (files []changes.Change) {
	for _, change := range held.Files {
		if len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool {
			return change.Path == p || strings.HasPrefix(change.Path, p+"/")
		}) {
			files = append(files, change)
		}
	}
	return files
}

// covered returns what an answer for longer than once holds for: writing, or
// removing, exactly these files again, whatever is written. It is nothing where
// they are too many to be read.
func covered(target string, files []changes.Change) (grant, covers string) {
	if len(files) == 0 || len(files) > maxPathsCovered {
		return "", ""
	}
	lines, names := []string{"apply " + strconv.Quote(target)}, []string{}
	for _, change := range files {
		deed, name := "write", display.Path(change.Path)
		switch {
		case change.Kind == changes.Deleted:
			deed, name = "remove", "removing "+name
		case !change.Mode.IsRegular():
			deed = "make " + change.Mode.Type().String()
		}
		lines, names = append(lines, deed+" "+strconv.Quote(change.Path)), append(names, name)
	}
	return strings.Join(lines, "\n"), "these paths in " + display.Path(target) + ", whatever is written to them: " + strings.Join(names, ", ")
}
