package secrets

import (
	"errors"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var (
	errNoWords  = errors.New("command: needs a program, as in command:pass show api/token")
	errNotPlain = errors.New("command: is a program and its arguments, which no shell reads: write plain or quoted words, without variables, globs, " +
		"redirections and operators; for more, name a script of yours")
	errRelative = errors.New("command: needs the name of a program on PATH, or its absolute path, or one that begins with ~/")
)

// words splits a command the way a shell does, and refuses what a shell would
// do more with than to take off quotes.
func words(text string) ([]string, error) {
	parsed, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, errNotPlain // whose text would show what may be a secret
	}
	if len(parsed.Stmts) == 0 {
		return nil, errNoWords
	}
	call, ok := parsed.Stmts[0].Cmd.(*syntax.CallExpr)
	statement := *parsed.Stmts[0]
	plain := ok && len(parsed.Stmts) == 1 && len(call.Assigns) == 0 && len(statement.Redirs) == 0 &&
		!statement.Negated && !statement.Background && !statement.Semicolon.IsValid() && len(statement.Comments)+len(parsed.Last) == 0
	if !plain {
		return nil, errNotPlain
	}
	argv := make([]string, 0, len(call.Args))
	for _, word := range call.Args {
		value, ok := unquoted(word)
		if !ok {
			return nil, errNotPlain
		}
		argv = append(argv, value)
	}
	if argv[0] == "" {
		return nil, errNoWords
	}
	if !strings.HasPrefix(argv[0], "~/") && strings.ContainsAny(argv[0], `/\`) && !filepath.IsAbs(argv[0]) {
		return nil, errRelative
	}
	return argv, nil
}

// unquoted returns a word without its quotes, unless it holds more than text.
func unquoted(word *syntax.Word) (string, bool) {
	var text strings.Builder
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(part.Value, "*?[]{}\\#$") {
				return "", false
			}
			text.WriteString(part.Value)
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", false
			}
			text.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				literal, ok := inner.(*syntax.Lit)
				if !ok || part.Dollar || strings.Contains(literal.Value, `\`) {
					return "", false
				}
				text.WriteString(literal.Value)
			}
		default:
			return "", false
		}
	}
	return text.String(), true
}
