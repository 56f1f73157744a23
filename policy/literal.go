package policy

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// argument returns what a word of a command is after expansion and quote
// removal: [skillVariable] stands for a $SKILL_DIR that it begins with, where
// nothing or a slash follows. bare reports whether that stands outside of
// quotes, where bash would split what it holds.
func argument(word *syntax.Word) (text string, bare bool, err error) {
	rest, quoted := word.Parts, false
	if len(rest) > 0 {
		if part, ok := rest[0].(*syntax.DblQuoted); ok && !part.Dollar && len(part.Parts) > 0 && isSkillDir(part.Parts[0]) {
			inner := &syntax.DblQuoted{Left: part.Left, Right: part.Right, Parts: part.Parts[1:]}
			rest, quoted = append([]syntax.WordPart{inner}, rest[1:]...), true
		} else if isSkillDir(rest[0]) {
			rest, bare = rest[1:], true
		}
	}
	text, err = literal(&syntax.Word{Parts: rest})
	if err != nil || !quoted && !bare {
		return text, false, err
	}
	if text != "" && text[0] != '/' {
		return "", false, errors.New("a variable ($…)")
	}
	return skillVariable + text, bare, nil
}

// isSkillDir reports whether a part of a word is $SKILL_DIR or ${SKILL_DIR},
// with no operator in it.
func isSkillDir(part syntax.WordPart) bool {
	variable, ok := part.(*syntax.ParamExp)
	if !ok || variable.Param == nil || variable.Param.Value != "SKILL_DIR" {
		return false
	}
	length := variable.End().Offset() - variable.Pos().Offset()
	return variable.Short && length == uint(len("$SKILL_DIR")) || !variable.Short && length == uint(len("${SKILL_DIR}"))
}

// literal returns what a word is after quote removal. A word with anything in
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
