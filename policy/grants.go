package policy

import (
	"errors"
	"fmt"
	"strings"
)

// Grants are a skill's parsed allowed-tools. They do not change, so they may
// be used concurrently. Nil Grants belong to a skill that declares none.
type Grants struct {
	entries []*entry
}

// Parse reads allowed-tools as a skill declares them: every element may hold
// several entries, separated by spaces or commas outside parentheses. Faulty
// entries grant nothing and are given as faults, each an [*EntryError]; the
// others stand. A nil slice gives nil Grants: the skill declares none. An
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

// Entries gives the entries without a fault as they were declared, in that
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

// Execute tells whether there is anything that a skill with these grants may
// run: not what, and not whether it may run all that it has. It is true for nil
// Grants.
func (g *Grants) Execute() bool {
	return g == nil || g.has(executing) || g.has(other) // the name of a tool
}

// String gives all entries, separated by ", "; "nothing" where there are
// none, and "everything inside the sandbox" for nil Grants.
func (g *Grants) String() string {
	switch {
	case g == nil:
		return "everything inside the sandbox"
	case len(g.entries) == 0:
		return "nothing"
	}
	return strings.Join(g.Entries(), ", ")
}

// decide answers a request that has no fault in itself.
func (g *Grants) decide(request Request) Decision {
	switch request.Op {
	case OpRead:
		return g.decidePath(reading, "Reading", request.Path)
	case OpWrite:
		return g.decidePath(writing, "Writing", request.Path)
	case OpTool:
		return g.decideTool(request.Tool, request.Argv)
	case OpScript:
		return g.decideScript(request.Argv)
	default:
		return g.decideShell(request.Command)
	}
}

func (g *Grants) decidePath(f family, verb, name string) Decision {
	if e := g.forPath(f, name); e != nil {
		return listed(e)
	}
	return deny(ruleNotListed, fmt.Sprintf("%s %s is not in the skill's allowed-tools.", verb, quote(name)),
		g.hint(fmt.Sprintf("The author can add %s or %s(pattern).", f, f)))
}

func (g *Grants) decideTool(name string, argv []string) Decision {
	for _, e := range g.entries {
		if e.family == other && e.whole && e.name == name {
			return listed(e)
		}
	}
	if e := g.forCommand(toolSpellings(argv)...); e != nil {
		return listed(e)
	}
	return deny(ruleNotListed, fmt.Sprintf("The tool %s is not in the skill's allowed-tools.", quote(name)),
		g.hint("The author can add the tool's name."))
}

func (g *Grants) decideScript(argv []string) Decision {
	if e := g.forCommand(scriptSpellings(argv)...); e != nil {
		return listed(e)
	}
	script := trimDotSlash(argv[0])
	return deny(ruleNotListed, fmt.Sprintf("Running %s is not in the skill's allowed-tools.", quote(commandLine(argv))),
		g.hint(fmt.Sprintf("The author can add Bash(%s:*).", shorten(script, maxQuotedRunes))))
}

func (g *Grants) decideShell(command string) Decision {
	if !g.has(executing) {
		return deny(ruleNotListed, "Running commands is not in the skill's allowed-tools.",
			g.hint("The author can add Bash(program:*)."))
	}
	for _, e := range g.entries {
		if e.family == executing && e.whole {
			return listed(e)
		}
	}
	parsed, err := parseProgram(command)
	if err != nil {
		return g.outsideSubset(err)
	}
	return g.decideProgram(parsed)
}

const (
	scriptAdvice   = "Or run one of its scripts with `script` and `args`."
	redirectAdvice = "Redirects may go to /dev/null and to workspace files that a Write entry lists."
)

// outsideSubset denies what [parseProgram] gave an error for.
func (g *Grants) outsideSubset(err error) Decision {
	var redirect redirectError
	if errors.As(err, &redirect) {
		return deny(ruleRedirect, fmt.Sprintf("The command has %v.", err), g.hint(redirectAdvice))
	}
	return deny(ruleSyntax, fmt.Sprintf("The command has %v, so what it runs cannot be checked.", err),
		"Use plain words, quoted where needed, joined by |, &&, || or ;. "+g.hint(scriptAdvice))
}

// decideProgram allows a shell program whose every part is listed.
func (g *Grants) decideProgram(parsed program) Decision {
	var used []*entry
	for _, argv := range parsed.commands {
		e := g.forCommand(shellSpellings(argv)...)
		if e == nil {
			return deny(ruleNotListed,
				fmt.Sprintf("The command %s is not in the skill's allowed-tools.", quote(commandLine(argv))), g.hint(scriptAdvice))
		}
		used = append(used, e)
	}
	for _, file := range parsed.files {
		e := g.forPath(writing, file)
		if e == nil {
			return deny(ruleRedirect, fmt.Sprintf("Redirecting to or from %s needs leave to write it.", quote(file)),
				g.hint(redirectAdvice))
		}
		used = append(used, e)
	}
	return listed(used...)
}

// forPath gives the first entry that grants the path, or nil.
func (g *Grants) forPath(f family, name string) *entry {
	for _, e := range g.entries {
		if e.family == f && (e.whole || e.path.match(name)) {
			return e
		}
	}
	return nil
}

// forCommand gives the first entry that grants any of the spellings of one
// command, or nil.
func (g *Grants) forCommand(spellings ...[]string) *entry {
	guarded := make([][]token, len(spellings))
	for i, argv := range spellings {
		guarded[i] = guard(argv)
	}
	for _, e := range g.entries {
		if e.family != executing {
			continue
		}
		if e.whole {
			return e
		}
		for _, argv := range guarded {
			if e.command.match(argv) {
				return e
			}
		}
	}
	return nil
}

func (g *Grants) has(f family) bool {
	for _, e := range g.entries {
		if e.family == f {
			return true
		}
	}
	return false
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
	return strings.Join(argv, " ")
}
