package consent

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/internal/answers"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/policy/approval"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
)

// Question is what a user is asked. All of it is bound to the answer: where
// anything of it has changed meanwhile, the answer is one to another question.
type Question struct {
	Kind approval.Kind
	// Skill is the name of the skill that wants it, Dir its directory on the
	// host, and Digest the version that it is. They are empty where no skill
	// does. Dir is never shown.
	Skill, Dir, Digest string
	// Others are the names of further skills that want it, and Unattributed says
	// that any may: what the operator says of these holds, too.
	Others       []string
	Unattributed bool
	// Title says in one sentence what is to be done: "Run scripts/report.py."
	// What is in it of others was shown by package display.
	Title string
	// Detail shows what the user decides about, such as files and a short diff,
	// in lines. It may hold any bytes: what does not show itself is escaped,
	// and what is too long is cut, which is said.
	Detail string
	// Grant is what an answer for the session or for always covers, in a form
	// that is equal for what is the same, and Covers says it to people: "this
	// script, whatever its arguments". Where it is empty, an answer covers
	// nothing but this call.
	Grant, Covers string
}

// subject is what an answer that lasts is bound to.
func (q Question) subject() answers.Subject {
	return answers.Subject{Skill: q.Skill, Root: q.Dir, Digest: q.Digest, Kind: string(q.Kind), Grant: q.Grant}
}

// binds reports whether there is something that an answer which lasts can be
// bound to: what a skill may do is known only of one version of it.
func (q Question) binds() bool { return q.Grant != "" && (q.Skill == "" || q.Digest != "") }

// Bounds of what is shown of a question.
const (
	maxDetailLines   = 80
	maxDetailBytes   = 8 << 10
	maxLineRunes     = 160
	maxTitleRunes    = 300
	shownDigestBytes = len("sha256:") + 12
)

// message is the question as its client shows it. Every line of Detail is
// indented, so that none looks like one of ours, also where the client takes the
// message for Markdown.
func (q Question) message() string {
	var text strings.Builder
	text.WriteString(truncate.After(display.Line(q.Title), maxTitleRunes))
	if q.Skill != "" {
		fmt.Fprintf(&text, "\n\nSkill: %s", display.Line(q.Skill))
		if q.Digest != "" {
			fmt.Fprintf(&text, " (version %s)", truncate.After(q.Digest, shownDigestBytes))
		}
	}
	if detail := shownDetail(q.Detail); detail != "" {
		text.WriteString("\n\n" + detail)
	}
	if q.Covers != "" {
		fmt.Fprintf(&text, "\n\nAn answer for longer than once covers %s.", display.Line(q.Covers))
	}
	return text.String()
}

// shownDetail returns what is shown of a detail, each line indented and long
// ones folded, since the end of a line may be what matters. What is folded
// begins with a bar, so that it looks like no line of its own.
func shownDetail(detail string) string {
	detail = strings.Trim(detail, "\n")
	var text strings.Builder
	lines, left, indent := 0, detail, "    "
	for left != "" {
		line, rest, _ := strings.Cut(left, "\n")
		next := "    "
		if first := fold(line); first != line {
			line, rest, next = first, left[len(first):], "    | "
		}
		shown := indent + escaped(line) + "\n"
		if lines == maxDetailLines || text.Len()+len(shown) > maxDetailBytes {
			fmt.Fprintf(&text, "    [%d bytes more are not shown here: decline what you cannot see]", len(left))
			break
		}
		text.WriteString(shown)
		lines, left, indent = lines+1, rest, next
	}
	return strings.TrimRight(text.String(), " \n")
}

// fold returns the beginning of a line that is too long to be seen, up to a
// space where there is one.
func fold(line string) string {
	runes, space := 0, 0
	for i, c := range line {
		if runes == maxLineRunes {
			return line[:cmp.Or(space, i)]
		}
		if runes++; c == ' ' {
			space = i + 1
		}
	}
	return line
}

// escaped shows what would not show itself: control characters, those that turn
// the direction of writing, and what is no text.
func escaped(line string) string {
	var shown strings.Builder
	for len(line) > 0 {
		c, size := utf8.DecodeRuneInString(line)
		switch {
		case c == utf8.RuneError && size == 1:
			fmt.Fprintf(&shown, `\x%02x`, line[0])
		case c == '\t' || c == '\\' || unicode.IsGraphic(c):
			shown.WriteRune(c)
		default:
			fmt.Fprintf(&shown, `\u%04x`, c)
		}
		line = line[size:]
	}
	return shown.String()
}
