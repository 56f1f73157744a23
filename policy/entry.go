package policy

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

// Bounds of a declaration.
const (
	maxEntries    = 256
	maxEntryBytes = 1 << 10
)

// EntryError is an entry of allowed-tools that grants nothing because it
// cannot be understood.
type EntryError struct {
	// Entry is the entry as declared, shortened to one line.
	Entry string
	// Problem says what is wrong with it and, where that helps, what to
	// write instead.
	Problem string
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("allowed-tools: %s: %s", strconv.Quote(e.Entry), e.Problem)
}

func newEntryError(text, problem string) *EntryError {
	return &EntryError{Entry: truncate.After(text, maxQuotedRunes), Problem: problem}
}

// family is what kind of request an entry's name speaks of.
type family int

const (
	other family = iota
	executing
	reading
	writing
)

// String returns the name by which an author is told to list the family.
func (f family) String() string {
	return [...]string{"a tool's name", "Bash", "Read", "Write"}[f]
}

// families maps the names that Claude Code, Conjure and this server use. Case
// counts, as in Claude Code.
var families = map[string]family{
	"Bash": executing, "bash": executing, "bash_tool": executing, "exec": executing,

	"Read": reading, "read": reading, "view": reading, "View": reading, "readResource": reading,

	"Write": writing, "write": writing, "Edit": writing, "edit": writing,
	"MultiEdit": writing, "create_file": writing, "str_replace": writing,
}

// onlyOps are the operations that names speak of which are those of one tool each.
var onlyOps = map[string]Op{"create_file": OpWrite, "str_replace": OpEdit}

// entry is one part of a declaration, ready to be held against requests.
type entry struct {
	text   string // as declared
	name   string
	family family
	only   Op   // of its family, or empty for all
	whole  bool // grants all of its family: no pattern, or only asterisks

	command commandPattern // of an executing entry that is not whole
	path    pathPattern    // of a reading or writing one
}

// newEntry compiles an entry that is sound in its form. fault is empty where
// the entry is usable.
func newEntry(text, name, pattern string, hasPattern bool) (e *entry, fault string) {
	e = &entry{text: text, name: name, family: families[name], only: onlyOps[name], whole: !hasPattern}
	if e.family == other || !hasPattern {
		return e, ""
	}
	pattern = strings.TrimSpace(pattern)
	switch {
	case pattern == "":
		return nil, "nothing between the parentheses; write " + name + " alone to allow everything"
	case pattern == "*", pattern == "**" && e.family != executing:
		e.whole = true
	case e.family == executing:
		e.command, fault = parseCommandPattern(pattern)
	case e.family == writing && namesPrivateDir(pattern):
		fault = privateDir + ", which belongs to the sandbox"
	default:
		e.path, fault = parsePathPattern(pattern)
	}
	return e, fault
}

// textFault finds what makes a declaration unsafe to show or to compare:
// controls, characters that are invisible or turn the reading direction, and
// bytes that are no text.
func textFault(text string) string {
	if len(text) > maxEntryBytes {
		return fmt.Sprintf("longer than %d bytes", maxEntryBytes)
	}
	if !utf8.ValidString(text) {
		return "invalid UTF-8"
	}
	if strings.ContainsFunc(text, hidden) {
		return "a control, invisible or bidirectional character"
	}
	return ""
}

// hidden reports whether a reader of r could see something else than a program
// does: controls, format characters and every space but the plain one.
func hidden(r rune) bool {
	return r != ' ' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Z))
}
