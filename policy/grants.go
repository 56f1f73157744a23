package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

// Grants are a skill's parsed allowed-tools. They do not change, so they may
// be used concurrently. Nil Grants belong to a skill that declares none.
type Grants struct {
	entries []*entry
}

// Parse reads allowed-tools as a skill declares them: every element may hold
// several entries, separated by spaces or commas outside parentheses. Faulty
// entries grant nothing and are given as faults, each an [*EntryError]; the
// others stand. For a nil slice they are nil: the skill declares none. An
// empty one gives Grants that allow nothing.
func Parse(declared []string) (grants *Grants, faults []error) {
	if declared == nil {
		return nil, nil
	}
	grants = new(Grants)
	count := 0
	for _, element := range declared {
		for s := (scanner{rest: element}); s.next(); count++ {
			if count == maxEntries {
				fault := fmt.Sprintf("more than %d entries", maxEntries)
				return grants, append(faults, newEntryError(s.text, fault))
			}
			parsed, fault := s.entry()
			if fault != "" {
				faults = append(faults, newEntryError(s.text, fault))
				continue
			}
			grants.entries = append(grants.entries, parsed)
		}
	}
	return grants, faults
}

// Entries returns the entries without a fault as they were declared, in that
// order, for people and models to read. It is nil for nil Grants.
func (g *Grants) Entries() []string {
	if g == nil {
		return nil
	}
	texts := make([]string, len(g.entries))
	for i, e := range g.entries {
		texts[i] = e.text
	}
	return texts
}

// Permissions are what entries grant, by what is done. An asterisk alone stands for
// all of it; other texts are the patterns.
type Permissions struct {
	Execute []string `json:"execute,omitempty"`
	Read    []string `json:"read,omitempty"`
	// Write is to write files and to replace text in them, Create and Replace are
	// one of the two.
	Write   []string `json:"write,omitempty"`
	Create  []string `json:"create,omitempty"`
	Replace []string `json:"replace,omitempty"`
	// Tools are names of tools, of the skill or of others.
	Tools []string `json:"tools,omitempty"`
}

// Permissions returns what the entries grant, whatever names they use for it; nil
// for nil Grants.
func (g *Grants) Permissions() *Permissions {
	if g == nil {
		return nil
	}
	p := new(Permissions)
	for _, e := range g.entries {
		to, text := &p.Tools, e.text
		switch {
		case e.family == executing:
			to = &p.Execute
		case e.family == reading:
			to = &p.Read
		case e.only == OpWrite:
			to = &p.Create
		case e.only == OpEdit:
			to = &p.Replace
		case e.family == writing:
			to = &p.Write
		}
		if e.family != other {
			text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, e.name+"("), ")"))
		}
		if e.whole && e.family != other {
			text = "*"
		}
		*to = append(*to, text)
	}
	return p
}

// Execute reports whether there is anything that a skill with these grants may
// run: not what, and not whether it may run all that it has. It is true for nil
// Grants.
func (g *Grants) Execute() bool {
	return g == nil || g.has(executing) || g.has(other) // the name of a tool
}

// open reports whether a skill with these grants may read all of its files and run
// some.
func (g *Grants) open() bool {
	return g == nil || g.has(executing) && slices.ContainsFunc(g.entries, func(e *entry) bool { return e.family == reading && e.whole })
}

// AnyProgram returns the entries that grant any program, though they name one:
// wrappers, launchers and interpreters with whatever arguments.
func (g *Grants) AnyProgram() []string {
	if g == nil {
		return nil
	}
	var texts []string
	for _, e := range g.entries {
		if e.family == executing && !e.whole && e.command.runsAny() {
			texts = append(texts, e.text)
		}
	}
	return texts
}

// decide answers a request that has no fault in itself.
func (g *Grants) decide(request Request) Decision {
	switch request.Op {
	case OpRead:
		return g.decidePath(reading, "Reading", request)
	case OpWrite:
		return g.decidePath(writing, "Writing", request)
	case OpEdit:
		return g.decidePath(writing, "Editing", request)
	case OpTool:
		return g.decideTool(request.Tool, request.Argv, request.location())
	case OpScript:
		return g.decideScript(request.Argv, request.location())
	case OpProgram:
		return g.decideArgv(request.Argv, request.location())
	default:
		return g.decideShell(request.Command, request.location())
	}
}

// decideArgv decides about a program and its arguments as about a command of these
// words, which no shell has expanded.
func (g *Grants) decideArgv(argv []string, at location) Decision {
	if e := g.forCommand(at, shellForms(argv)...); e != nil {
		return listed(e)
	}
	return deny(ruleNotListed, fmt.Sprintf("Running %s is not in the skill's allowed-tools.", quote(commandLine(argv))), g.hint(scriptAdvice))
}

func (g *Grants) decidePath(f family, verb string, request Request) Decision {
	if e := g.forPath(f, request); e != nil {
		return listed(e)
	}
	return deny(ruleNotListed, fmt.Sprintf("%s %s is not in the skill's allowed-tools.", verb, quote(request.shownPath())),
		g.hint(fmt.Sprintf("The author can add %s or %s(pattern).", f, f)))
}

func (g *Grants) decideTool(name string, argv []string, at location) Decision {
	for _, e := range g.entries {
		if e.family == other && e.whole && e.name == name {
			return listed(e)
		}
	}
	if e := g.forCommand(at, toolForms(argv)...); e != nil {
		return listed(e)
	}
	return deny(ruleNotListed, fmt.Sprintf("The tool %s is not in the skill's allowed-tools.", quote(name)),
		g.hint("The author can add the tool's name."))
}

func (g *Grants) decideScript(argv []string, at location) Decision {
	if e := g.forCommand(at, scriptForms(argv)...); e != nil {
		return listed(e)
	}
	script := trimDotSlash(argv[0])
	return deny(ruleNotListed, fmt.Sprintf("Running %s is not in the skill's allowed-tools.", quote(commandLine(argv))),
		g.hint(fmt.Sprintf("The author can add Bash(%s:*).", truncate.After(script, maxQuotedRunes))))
}

func (g *Grants) decideShell(command string, at location) Decision {
	if !g.has(executing) {
		return deny(ruleNotListed, "Running commands is not in the skill's allowed-tools.",
			g.hint("The author can add Bash(program:*)."))
	}
	for _, e := range g.entries {
		if e.family == executing && e.whole {
			return listed(e)
		}
	}
	if len(command) > maxParsedBytes {
		return deny(ruleTooLong, fmt.Sprintf("The command has %d bytes; of a skill that lists commands the limit is %d.", len(command), maxParsedBytes),
			"Put it into a script of the skill, or pass data on stdin.")
	}
	parsed, err := parseProgram(command)
	if err == nil && parsed.bare && !at.plain() {
		err = errors.New("a $SKILL_DIR outside of double quotes")
	}
	if err != nil {
		return g.outsideSubset(err)
	}
	if parsed.mover() != "" {
		at.inSkill = false
	}
	return g.decideProgram(parsed, at)
}

const (
	scriptAdvice   = "Or run one of its scripts with `script` and `args`."
	redirectAdvice = "Redirects may go to /dev/null and to workspace files that a Write entry lists."
)

// outsideSubset denies what [parseProgram] gave an error for.
func (g *Grants) outsideSubset(err error) Decision {
	if _, ok := errors.AsType[redirectError](err); ok {
		return deny(ruleRedirect, fmt.Sprintf("The command has %v.", err), g.hint(redirectAdvice))
	}
	return deny(ruleSyntax, fmt.Sprintf("The command has %v, so what it runs cannot be checked.", err),
		"Use plain words, quoted where needed, joined by |, &&, || or ;, and \"$SKILL_DIR/…\" for files of the skill. "+g.hint(scriptAdvice))
}

// decideProgram allows a shell program whose every part is listed.
func (g *Grants) decideProgram(parsed program, at location) Decision {
	var used []*entry
	for _, argv := range parsed.commands {
		e := g.forCommand(at, shellForms(argv)...)
		if e == nil {
			return g.unlisted(parsed, argv, at)
		}
		used = append(used, e)
	}
	for _, file := range parsed.files {
		e := g.forPath(writing, Request{Op: OpWrite, Path: file})
		if e == nil {
			return deny(ruleRedirect, fmt.Sprintf("Redirecting to or from %s needs leave to write it.", quote(file)),
				g.hint(redirectAdvice))
		}
		used = append(used, e)
	}
	return listed(used...)
}

// unlisted denies a command of a program that no entry grants. Where one grants
// the skill's own file by that path, the denial names the form that is
// granted.
func (g *Grants) unlisted(parsed program, argv []string, at location) Decision {
	reason := fmt.Sprintf("The command %s is not in the skill's allowed-tools.", quote(commandLine(argv)))
	const workspaces = "The path %s in a command is that of a file of the workspace, not of the skill's own, which alone is listed."
	for i, text := range argv {
		ours := slices.Clone(argv)
		ours[i] = skillVariable + "/" + trimDotSlash(text)
		if !strings.ContainsAny(text, "\"$`\\") && !setsVariables(argv) && g.forCommand(at, shellForms(ours)...) != nil {
			return deny(ruleNotListed, fmt.Sprintf(workspaces, quote(text)),
				g.hint(fmt.Sprintf("Write %s instead, or run it by `script` and `args`.", quote(commandLine(ours[i:i+1])))))
		}
	}
	inSkill := location{inSkill: true, skillDir: at.skillDir}
	if parsed.mover() == "" && g.forCommand(inSkill, shellForms(argv)...) != nil {
		return deny(ruleNotListed, reason, g.hint("Start it with `cwd`: \"skill\": paths in it are listed as those of the skill's own files."))
	}
	return deny(ruleNotListed, reason, g.hint(scriptAdvice))
}

// forPath returns the first entry that grants the path, or nil.
func (g *Grants) forPath(f family, request Request) *entry {
	for _, e := range g.entries {
		if e.family == f && (e.only == "" || e.only == request.Op) && (e.whole || e.path.match(request)) {
			return e
		}
	}
	return nil
}

// forCommand returns the first entry that grants any of the forms of one
// command, or nil.
func (g *Grants) forCommand(at location, forms ...[]string) *entry {
	commands := make([][]token, len(forms))
	for i, argv := range forms {
		commands[i] = tokenize(argv, at)
	}
	for _, e := range g.entries {
		if e.family != executing {
			continue
		}
		if e.whole {
			return e
		}
		for _, argv := range commands {
			if e.command.match(argv) {
				return e
			}
		}
	}
	return nil
}

func (g *Grants) has(f family) bool {
	return slices.ContainsFunc(g.entries, func(e *entry) bool { return e.family == f })
}

// hint says what the skill does allow, and then the advice.
func (g *Grants) hint(advice string) string {
	if len(g.entries) == 0 {
		return "This skill allows nothing. " + advice
	}
	return "Allowed by this skill: " + enumerate(g.Entries()) + ". " + advice
}

// commandLine shows an argument vector; it is for people, not for a shell.
func commandLine(argv []string) string {
	return strings.ReplaceAll(strings.Join(argv, " "), skillVariable, "$SKILL_DIR")
}
