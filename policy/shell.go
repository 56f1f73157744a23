package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

// program is a shell program that was understood whole.
type program struct {
	commands [][]string // what it runs, in the order of the text
	files    []string   // workspace paths that its redirects open
	bare     bool       // $SKILL_DIR stands outside of quotes
}

// parseProgram reads a shell program of the strict subset. Its error is a
// noun phrase that names what is outside of it.
//
// The parser and bash do not agree about everything: a comment that ends in a
// backslash, for one, hides the next line from the parser alone. The text is
// therefore checked before it is parsed, for all that either could take for
// more than a character.
func parseProgram(text string) (program, error) {
	text = strings.TrimRight(text, "\n")
	if err := checkText(text); err != nil {
		return program{}, err
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return program{}, fmt.Errorf("a syntax error (%s)", truncate.After(parseMessage(err), maxQuotedRunes))
	}
	var p program
	for _, statement := range file.Stmts {
		if err := p.add(statement, false); err != nil {
			return program{}, err
		}
	}
	return p, p.check()
}

func parseMessage(err error) string {
	if parse, ok := errors.AsType[syntax.ParseError](err); ok {
		return parse.Text
	}
	return "not understood"
}

// checkText refuses characters that may not occur anywhere, quoted or not.
func checkText(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("invalid UTF-8")
	}
	for _, r := range text {
		switch {
		case r == '\n':
			return errors.New("more than one line; join commands with && or ;")
		case r == '#':
			return errors.New("a # character")
		case hidden(r):
			return fmt.Errorf("a control, invisible or bidirectional character (%U)", r)
		}
	}
	switch {
	case strings.HasSuffix(text, `\`):
		return errors.New("a backslash at its end")
	case strings.HasPrefix(text, "-"), strings.HasPrefix(text, "+"):
		// After -c, bash would still take it for an option of its own.
		return errors.New("a - or + at its beginning")
	}
	return nil
}

// check holds the parts of a program against each other.
func (p program) check() error {
	if len(p.commands) == 0 { // no grant would have to allow it
		return errors.New("no command in it")
	}
	// Elsewhere, a relative path is another file.
	if mover := p.mover(); mover != "" && len(p.files) > 0 {
		return redirectError("a redirect next to " + mover)
	}
	for _, argv := range p.commands {
		if p.usesSkillDir() && setsVariables(argv) {
			return fmt.Errorf("$SKILL_DIR next to %s", quote(argv[0]))
		}
	}
	return nil
}

// mover returns the first word that could change the directory for what comes
// after it, or nothing.
func (p program) mover() string {
	for _, argv := range p.commands {
		for _, argument := range argv {
			switch argument {
			case "cd", "pushd", "popd":
				return argument
			}
		}
	}
	return ""
}

func (p program) usesSkillDir() bool {
	return slices.ContainsFunc(p.commands, func(argv []string) bool {
		return slices.ContainsFunc(argv, func(text string) bool { return strings.HasPrefix(text, skillVariable) })
	})
}

// add takes a statement in. inPipe is set for all but the first command of a
// pipeline.
func (p *program) add(statement *syntax.Stmt, inPipe bool) error {
	switch {
	case statement.Negated:
		return errors.New("a `!`")
	case statement.Background, statement.Coprocess, statement.Disown:
		return errors.New("a background job (&)")
	}
	if call, ok := statement.Cmd.(*syntax.CallExpr); ok {
		return p.addCall(call, statement.Redirs)
	}
	if len(statement.Redirs) > 0 {
		return errors.New("a redirect that belongs to no simple command")
	}
	switch command := statement.Cmd.(type) {
	case *syntax.BinaryCmd:
		piped := command.Op == syntax.Pipe || command.Op == syntax.PipeAll
		if err := p.add(command.X, inPipe); err != nil {
			return err
		}
		return p.add(command.Y, inPipe || piped)
	case *syntax.TimeClause:
		// Only a program of that name could stand inside a pipeline.
		if command.PosixFormat || command.Stmt == nil || inPipe {
			return errors.New("a `time` that is not plain")
		}
		return p.add(command.Stmt, true)
	default:
		return errors.New(construct(command))
	}
}

func (p *program) addCall(call *syntax.CallExpr, redirects []*syntax.Redirect) error {
	if len(call.Assigns) > 0 || len(call.Args) == 0 {
		return errors.New("a variable assignment")
	}
	argv := make([]string, len(call.Args))
	for i, word := range call.Args {
		text, bare, err := argument(word)
		if err != nil {
			return err
		}
		argv[i], p.bare = text, p.bare || bare
	}
	p.commands = append(p.commands, argv)
	for _, redirect := range redirects {
		if err := p.addRedirect(redirect); err != nil {
			return err
		}
	}
	return nil
}

// redirectError is a redirect that no grant could allow, as a noun phrase.
type redirectError string

func (e redirectError) Error() string { return string(e) }

// addRedirect takes a redirect in: between descriptors, to /dev/null, or to a
// path that the policy for writing then decides about. Reading from a file is
// held to the same, since a redirect is opened by the shell and not by a
// command that a pattern allows.
func (p *program) addRedirect(redirect *syntax.Redirect) error {
	if redirect.N != nil && !isDescriptor(redirect.N.Value) {
		return redirectError("a redirect of a descriptor that is not 0 to 9")
	}
	switch redirect.Op {
	case syntax.DplIn, syntax.DplOut:
		if !isDescriptor(redirect.Word.Lit()) {
			return redirectError("a redirect to something else than a descriptor")
		}
		return nil
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
	default:
		return errors.New("a here-document")
	}
	target, err := literal(redirect.Word)
	if err != nil {
		return err
	}
	if target == "/dev/null" {
		return nil
	}
	if target = trimDotSlash(target); target == "." || !cleanRelative(target) {
		return redirectError("a redirect to " + quote(target) + ", which is no clean relative path")
	}
	if inPrivateDir(target) {
		return redirectError("a redirect to " + privateDir + ", which belongs to the sandbox")
	}
	p.files = append(p.files, target)
	return nil
}

func isDescriptor(text string) bool {
	return len(text) == 1 && text[0] >= '0' && text[0] <= '9'
}
