package policy

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// literal gives what a word is after quote removal. A word with anything in
// it that bash would expand is an error, as in [parseProgram].
func literal(word *syntax.Word) (string, error) {
	var b strings.Builder
	for _, part := range word.Parts {
		var err error
		switch part := part.(type) {
		case *syntax.Lit:
			err = unquoted(&b, part.Value)
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", errors.New("a $'…' string")
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			err = doubleQuoted(&b, part)
		default:
			return "", errors.New(construct(part))
		}
		if err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// unquoted appends text that stands outside of quotes. Where the text is not
// ASCII, which characters separate words depends on the locale.
func unquoted(b *strings.Builder, text string) error {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) {
			i++
			c = text[i]
		} else if strings.IndexByte("*?[~{}$`\\", c) >= 0 {
			return fmt.Errorf("an unquoted %c", c)
		}
		if c >= 0x80 {
			return errors.New("an unquoted character that is not ASCII")
		}
		b.WriteByte(c)
	}
	return nil
}

// doubleQuoted appends the text of a "…" string.
func doubleQuoted(b *strings.Builder, quoted *syntax.DblQuoted) error {
	if quoted.Dollar {
		return errors.New(`a $"…" string`)
	}
	for _, part := range quoted.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return errors.New(construct(part))
		}
		for i := 0; i < len(lit.Value); i++ {
			c := lit.Value[i]
			if c == '\\' && i+1 < len(lit.Value) && strings.IndexByte("$`\"\\", lit.Value[i+1]) >= 0 {
				i++
				c = lit.Value[i]
			} else if c == '$' || c == '`' {
				return fmt.Errorf("a %c in double quotes", c)
			}
			b.WriteByte(c)
		}
	}
	return nil
}

// construct names a part of a shell program in words for a model.
func construct(node syntax.Node) string {
	switch node.(type) {
	case *syntax.ParamExp:
		return "a variable ($…)"
	case *syntax.CmdSubst:
		return "a command substitution"
	case *syntax.ProcSubst:
		return "a process substitution"
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause:
		return "shell arithmetic"
	case *syntax.ExtGlob:
		return "an extended glob"
	case *syntax.Subshell:
		return "a subshell"
	case *syntax.FuncDecl:
		return "a function"
	case *syntax.DeclClause:
		return "a declaration of variables"
	case *syntax.CoprocClause:
		return "a coprocess"
	}
	return "a compound command"
}
