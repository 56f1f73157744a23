package developing

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/examples"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/listing"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
)

const (
	// maxWhole is how many skills are shown whole at once.
	maxWhole = 5
	// maxNames is how many files are named in a line.
	maxNames = 8
	// clearScreen has a terminal begin anew, and clearLine the line in which it is.
	clearScreen, clearLine = "\x1b[2J\x1b[H", "\r\x1b[K"
)

// text shows a session to its author. On a terminal each round begins on an empty
// screen, on which stands how all is now; elsewhere only what is another is added.
type text struct {
	out    io.Writer
	screen bool
	styled func(terminal.Style, string) string
	status bool            // the last line says what is being done
	first  bool            // round
	told   map[string]bool // examples that were shown as failing in this round
}

func newText(options Options) *text {
	return &text{out: options.Out, screen: terminal.Is(options.Out), styled: terminal.Styled(options.Out), first: true}
}

// write writes lines in the place of what is being done.
func (t *text) write(lines string) error {
	if t.status {
		lines, t.status = clearLine+lines, false
	}
	if lines == "" {
		return nil
	}
	_, err := io.WriteString(t.out, lines)
	return err
}

func (t *text) round(r Round) error {
	var b strings.Builder
	t.first, t.told = r.Number == 1, map[string]bool{}
	if t.screen {
		b.WriteString(clearScreen)
	}
	t.head(&b, r)
	t.skills(&b, r)
	problems := r.New
	if t.screen {
		problems = r.Standing
	}
	for _, p := range problems {
		listing.WriteStyled(&b, p, t.styled)
	}
	if len(problems) > 0 || t.showsWhole(r) {
		b.WriteString("\n")
	}
	for _, p := range r.Fixed {
		fmt.Fprintf(&b, "%s %s [%s]\n", t.styled(terminal.Good, "fixed:"), terminal.Printable(p.File), p.Rule)
	}
	if t.screen || t.first || len(r.New)+len(r.Fixed)+len(r.Gone) > 0 || came(r) {
		b.WriteString(r.report.Sum(t.styled) + "\n")
	}
	return t.write(b.String())
}

// came reports whether a skill was not there before.
func came(r Round) bool {
	return slices.ContainsFunc(r.Skills, func(p *Picture) bool { return p.First })
}

// showsWhole reports whether what hosts see of a skill is shown whole: where it is
// new or the screen empty, and they are few.
func (t *text) showsWhole(r Round) bool {
	return len(r.Skills) <= maxWhole && (came(r) || t.screen && len(r.Skills) > 0)
}

// head says what the round is about.
func (t *text) head(b *strings.Builder, r Round) {
	what := "changed: " + names(r.Changed)
	switch {
	case t.first:
		what = "following " + terminal.Printable(r.Place)
		if len(r.Hidden) > 0 {
			what += "; hidden by your configuration: " + names(r.Hidden)
		}
	case len(r.Changed) == 0:
		what = "looked again"
	}
	if t.screen {
		what = time.Now().Format(time.TimeOnly) + "  " + what
	} else if !t.first {
		b.WriteString("\n")
	}
	b.WriteString(t.styled(terminal.Strong, what) + "\n")
}

// names puts names on a line.
func names(all []string) string {
	more := ""
	if n := len(all) - maxNames; n > 0 {
		all, more = all[:maxNames], fmt.Sprintf(" and %d more", n)
	}
	return terminal.Printable(strings.Join(all, ", ")) + more
}

// skills shows what hosts see, whole or what is another.
func (t *text) skills(b *strings.Builder, r Round) {
	few, listed := len(r.Skills) <= maxWhole, int64(0)
	for _, p := range r.Skills {
		listed += p.Tokens.Listed
		switch {
		case few && (p.First || t.screen):
			t.whole(b, p)
		case p.Before != nil || p.Broken || p.First && !t.first:
			fmt.Fprintf(b, "%s: %s\n", t.name(p), p.tokens())
		}
	}
	if t.first && !few {
		fmt.Fprintf(b, "%s, about %d tokens listed\n", terminal.Counted(len(r.Skills), "skill"), listed)
	}
	if len(r.Gone) > 0 {
		fmt.Fprintf(b, "gone: %s\n", names(r.Gone))
	}
}

// name is that of a skill, with what is to be known of it first.
func (t *text) name(p *Picture) string {
	name := t.styled(terminal.Strong, terminal.Printable(p.Name))
	if p.Broken {
		name += t.styled(terminal.Fault, " (broken: hosts are served the last version that was not, and no example is run)")
	}
	return name
}

func (t *text) whole(b *strings.Builder, p *Picture) {
	was := p.tokensBefore()
	when := "always"
	if p.UserOnly {
		when = "to users alone"
	}
	files := []string{}
	for _, file := range p.Resources {
		files = append(files, file.Path)
	}
	if p.Beyond != "" {
		files = []string{p.Beyond}
	}
	fmt.Fprintf(b, "\n%s\n  listed     %s\n             about %s tokens, %s\n", t.name(p), shorten(p.Name+": "+p.Description), step(was.Listed, p.Tokens.Listed), when)
	fmt.Fprintf(b, "  activated  %s, about %s tokens, of which the instructions are %s\n", terminal.Counted(p.Lines, "line"),
		step(was.Activated, p.Tokens.Activated), step(was.Instructions, p.Tokens.Instructions))
	fmt.Fprintf(b, "  resources  %s, about %s tokens of text", terminal.Counted(len(p.Resources), "file"), step(was.Resources, p.Tokens.Resources))
	if len(files) > 0 {
		fmt.Fprintf(b, "\n             %s", names(files))
	}
	b.WriteString("\n")
}

// tokens says in a line how many tokens each level takes.
func (p *Picture) tokens() string {
	was := p.tokensBefore()
	return fmt.Sprintf("about %s tokens listed, %s activated, %s of resources", step(was.Listed, p.Tokens.Listed),
		step(was.Activated, p.Tokens.Activated), step(was.Resources, p.Tokens.Resources))
}

// step shows a number, and what it was where that is another.
func step(was, now int64) string {
	if was == now {
		return fmt.Sprint(now)
	}
	return fmt.Sprintf("%d → %d", was, now)
}

func (t *text) running(r Running) error {
	if !t.screen {
		return nil
	}
	if err := t.write(""); err != nil {
		return err
	}
	t.status = true
	_, err := io.WriteString(t.out, fmt.Sprintf("… %s: %s", terminal.Printable(r.Skill), terminal.Shorten(r.Name, 50)))
	return err
}

// example shows one that is another than before, or failed.
func (t *text) example(e Example) error {
	if e.Passed && e.Was == passed || e.Passed && e.Was == "" && t.screen {
		return t.write("")
	}
	if e.Same && !t.screen {
		return t.write("") // which the end names
	}
	t.told[exampleKey(e.Result)] = true
	var b strings.Builder
	if err := e.Write(&b); err != nil {
		return err
	}
	lines := b.String()
	if rest, passes := strings.CutPrefix(lines, "ok "); passes {
		lines = t.styled(terminal.Good, "ok") + " " + strings.TrimSuffix(rest, "\n")
		if e.Was == failed {
			lines += ", failed before"
		}
		lines += "\n"
	} else if rest, fails := strings.CutPrefix(lines, "FAIL "); fails {
		lines = t.styled(terminal.Fault, "FAIL") + " " + rest
	}
	return t.write(lines)
}

func (t *text) faults(all []examples.Fault) error {
	var b strings.Builder
	if err := examples.WriteFaults(&b, all); err != nil {
		return err
	}
	return t.write(b.String())
}

func (t *text) end(e End) error {
	if e.Interrupted {
		return t.write("")
	}
	var b strings.Builder
	if e.told && (e.ran || t.screen || t.first) {
		for _, result := range e.failing {
			if !t.told[exampleKey(result)] { // it was not run, or fails as it did before
				fmt.Fprintf(&b, "%s  %s: %s\n", t.styled(terminal.Fault, "FAIL"), terminal.Printable(result.Skill), shorten(result.Name))
			}
		}
		style := terminal.Good
		if e.Failed+len(e.Faults) > 0 {
			style = terminal.Fault
		}
		b.WriteString(t.styled(style, examples.Sum(e.Passed+e.Failed, e.Failed, len(e.Faults))) + "\n")
	}
	if t.screen {
		b.WriteString("\nLooking at each save; Ctrl-C ends.\n")
	}
	return t.write(b.String())
}
