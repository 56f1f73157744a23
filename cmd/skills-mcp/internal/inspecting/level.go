package inspecting

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// Level is one of the levels of progressive disclosure.
type Level struct {
	What  string `json:"what"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
	// Tokens is about how many of a model's tokens its text takes.
	Tokens int64 `json:"tokens"`
	// Beyond says that there is more than was counted, and of what.
	Beyond string `json:"beyond,omitempty"`
}

// bytesPerToken is what a token of English text has in models of today, roughly.
const bytesPerToken = 4

// Tokens returns about how many of a model's tokens a text of so many bytes takes.
func Tokens(bytes int64) int64 { return bytes / bytesPerToken }

// Levels returns the three levels of a skill, and its files, sorted by path; none
// where they are beyond what the Skills extension serves.
func Levels(ctx context.Context, skill *catalog.Skill) ([]Level, []resources.File, error) {
	dir, err := resources.OpenSkill(skill)
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	entry, err := dir.ReadAll(skill.Entry, 0)
	if err != nil {
		return nil, nil, err
	}
	document, _ := catalog.ParseDocument(skill.Entry, entry.Data)
	told, body := int64(len(skill.Name)+len(skill.Description)), int64(len(document.Body))
	further := Level{What: "further files"}
	files, err := new(resources.Digests).Manifest(ctx, skill)
	if limit, ok := errors.AsType[*resources.LimitError](err); ok {
		further.Beyond = limit.Error()
	} else if err != nil {
		return nil, nil, err
	}
	further.count(dir, skill.Entry, files)
	return []Level{
		{What: "name and description", Bytes: told, Tokens: Tokens(told)},
		{What: "instructions", Files: 1, Bytes: body, Tokens: Tokens(body)},
		further,
	}, files, nil
}

// count counts all files but the entry document.
func (l *Level) count(dir *contained.Dir, entry string, files []resources.File) {
	for _, file := range files {
		if file.Path == entry {
			continue
		}
		l.Files++
		l.Bytes += file.Size
		if content, err := dir.ReadAll(file.Path, 0); err == nil && utf8.Valid(content.Data) {
			l.Tokens += Tokens(file.Size)
		}
	}
}

func (l Level) write(text *strings.Builder, when string) {
	switch {
	case l.Beyond != "":
		fmt.Fprintf(text, "  %-20s  not counted: %s\n", l.What, l.Beyond)
	case l.Files > 1 || l.What == "further files":
		fmt.Fprintf(text, "  %-20s  %s, %d bytes, about %d tokens of text, %s\n", l.What, terminal.Counted(l.Files, "file"), l.Bytes, l.Tokens, when)
	default:
		fmt.Fprintf(text, "  %-20s  about %d tokens, %s\n", l.What, l.Tokens, when)
	}
}
