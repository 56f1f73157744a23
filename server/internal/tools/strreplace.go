package tools

import (
	"bytes"
	"context"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/internal/redact"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/cards"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
)

const (
	// maxEditedBytes is how long a file may be, before and after its edit.
	maxEditedBytes = 16 << 20
	// shownAround is how many lines around an edit are shown.
	shownAround = 3
	// maxShownLines is how many lines of an edit are shown.
	maxShownLines = 20
	// maxNamedLines is how many lines are named at which a text occurs.
	maxNamedLines = 20
)

type replaceArguments struct {
	Path        string `json:"path"`
	OldStr      string `json:"old_str"`
	NewStr      string `json:"new_str"`
	Description string `json:"description"`
	Workspace   string `json:"workspace"`
	Name        string `json:"name"`
}

func strReplace(files *workspaceFiles) Tool {
	definition := define("str_replace", runs, "Edit a file",
		"Replace a text that occurs exactly once in a file of the user's project or of the workspace. View the file first; give enough of the text around the place to make it unique. What is written in the project is held until applyChanges, and programs see it at once.",
		0,
		writtenPathArgument,
		mcp.WithString("old_str", mcp.Required(), mcp.MinLength(1),
			mcp.Description("The text to replace, exactly as it is in the file, without line numbers.")),
		mcp.WithString("new_str",
			mcp.Description("The text in its place; empty or absent deletes.")),
		whyArgument,
		workspaceArgument,
		forSkillArgument,
		mcp.WithRawOutputSchema(writtenSchema),
	)
	return newTool(definition, files.replace).shownOn(cards.Changes)
}

func (f *workspaceFiles) replace(ctx context.Context, arguments replaceArguments) (*mcp.CallToolResult, error) {
	edit := replacement{old: arguments.OldStr, new: arguments.NewStr}
	if err := edit.check(); err != nil {
		return nil, err
	}
	t, err := f.target(ctx, policy.OpEdit, arguments.Path, arguments.Workspace, arguments.Name)
	if err != nil {
		return nil, err
	}
	edit.file = display.Path(t.shown())
	ws, report, err := f.edit(ctx, t, &edit)
	if err != nil {
		return nil, err
	}
	f.skills.Log.Info("file written", "tool", "str_replace", "skill", arguments.Name, "why", shownWhy(arguments.Description))
	return t.answer(ws, edit.shown(f.runner.Redact), []byte(edit.text), report), nil
}

// edit replaces a text in a file that is there.
func (f *workspaceFiles) edit(ctx context.Context, t target, edit *replacement) (ws workspaces.Workspace, report shares.Report, err error) {
	if t.users == nil {
		if ws, err = f.workspaces.GetUsed(ctx, t.handle); err != nil {
			return ws, report, err
		}
		err = f.write(ws, len(edit.new)-len(edit.old), func(dir *contained.Dir) error {
			return dir.Edit(t.file, maxEditedBytes, edit.apply)
		})
		return ws, report, err
	}
	if ws, err = f.workspaces.Get(ctx, t.handle); err != nil {
		return ws, report, err
	}
	_, report, err = f.writeUsers(ctx, ws, t, maxEditedBytes, func(old []byte) ([]byte, error) {
		if old == nil {
			return nil, contained.Refuse(contained.NotFound, t.shown(), "does not exist")
		}
		return edit.apply(old)
	})
	return ws, report, err
}

// replacement replaces one text in a file by another.
type replacement struct {
	file     string // for messages
	old, new string

	text string // of the file, after apply
	at   int    // where new begins in it
	end  int    // and where it ends
}

func (r *replacement) check() error {
	switch {
	case len(r.old) > maxFileTextBytes || len(r.new) > maxFileTextBytes:
		return failure.New(failure.TooLarge, "Replace less at a time, or change the file with a program.",
			"old_str and new_str may have %d bytes each", maxFileTextBytes)
	case r.old == r.new:
		return failure.New(failure.InvalidArguments, "Give the text that shall be there as `new_str`.", "old_str and new_str are the same")
	}
	return nil
}

// apply returns the file's text with the replacement.
func (r *replacement) apply(data []byte) ([]byte, error) {
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return nil, failure.New(failure.NotText, "Change it with a program.", "%s is no UTF-8 text", r.file)
	}
	text, old, replaced := string(data), r.old, r.new
	offsets := offsetsOf(text, old)
	if len(offsets) == 0 || breaksWithCRLF(text) {
		old, replaced = withCRLF(old), withCRLF(replaced)
		offsets = offsetsOf(text, old)
	}
	switch {
	case len(offsets) == 0:
		return nil, r.missing(text)
	case len(offsets) > 1:
		return nil, failure.New(failure.TextNotUnique, "Give more of the text around the one place that is meant.",
			"old_str occurs %d times in %s, at lines %s", len(offsets), r.file, lineList(text, offsets))
	case len(text)-len(old)+len(replaced) > maxEditedBytes:
		return nil, failure.New(failure.TooLarge, "Change it with a program.", "%s would be over the limit of %d bytes", r.file, maxEditedBytes)
	}
	r.at, r.end = offsets[0], offsets[0]+len(replaced)
	r.text = text[:r.at] + replaced + text[r.at+len(old):]
	return []byte(r.text), nil
}

// breaksWithCRLF reports whether every line of a text ends in CRLF. There a line
// break means CRLF, so that the file stays one of that kind.
func breaksWithCRLF(text string) bool {
	breaks := strings.Count(text, "\n")
	return breaks > 0 && breaks == strings.Count(text, "\r\n")
}

func withCRLF(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

// offsetsOf returns the offsets at which old begins: those that do not overlap,
// or else the one and one that overlaps it.
func offsetsOf(text, old string) (offsets []int) {
	for from := 0; ; {
		at := strings.Index(text[from:], old)
		if at < 0 {
			break
		}
		offsets = append(offsets, from+at)
		from += at + len(old)
	}
	if len(offsets) == 1 {
		rest := offsets[0] + 1
		if at := strings.Index(text[rest:], old); at >= 0 {
			offsets = append(offsets, rest+at)
		}
	}
	return offsets
}

// missing says where a text is that differs in white space alone.
func (r *replacement) missing(text string) *failure.Failure {
	hint := "View the file, and give the text exactly as it is there, white space included."
	if line := lineAlike(text, r.old); line > 0 {
		hint = fmt.Sprintf("The text at line %d differs in white space alone: view it, and give it exactly.", line)
	}
	return failure.New(failure.TextNotFound, hint, "old_str does not occur in %s", r.file)
}

// lineAlike returns the number of the line at which the words of old begin, or 0.
func lineAlike(text, old string) int {
	var words strings.Builder
	var starts []int // of lines, in words
	for line := range strings.Lines(text) {
		starts = append(starts, words.Len())
		for _, word := range strings.Fields(line) {
			words.WriteString(word)
			words.WriteByte(' ')
		}
	}
	at := strings.Index(words.String(), strings.Join(strings.Fields(old), " "))
	if at < 0 || strings.TrimSpace(old) == "" {
		return 0
	}
	return sort.SearchInts(starts, at+1)
}

// lineList returns the numbers of the lines of some offsets.
func lineList(text string, offsets []int) string {
	var list strings.Builder
	line, from := 1, 0
	for i, offset := range offsets {
		if i == maxNamedLines {
			list.WriteString(" and more")
			break
		}
		line += strings.Count(text[from:offset], "\n")
		from = offset
		if i > 0 {
			list.WriteString(", ")
		}
		list.WriteString(strconv.Itoa(line))
	}
	return list.String()
}

// shown returns the lines around the edit, without secrets.
func (r *replacement) shown(secrets *redact.Set) string {
	first := 1 + strings.Count(r.text[:r.at], "\n")
	last := first + strings.Count(r.text[r.at:r.end], "\n")
	lines := splitLines(secrets.String(r.text))
	var text strings.Builder
	fmt.Fprintf(&text, "Edited %s at line %d:\n", r.file, first)
	from, to := max(first-shownAround, 1), min(last+shownAround, len(lines))
	for number := from; number <= to; number++ {
		if number-from == maxShownLines {
			fmt.Fprintf(&text, "[… lines %d to %d]\n", number, to)
			break
		}
		text.WriteString(numbered(number, lines[number-1]))
	}
	return text.String()
}
