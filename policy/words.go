package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Word is a word of a shell command. Text is what it is after quote removal;
// one that a shell would expand is not Literal, and has none.
type Word struct {
	Text    string
	Literal bool
}

// Words returns the words of a shell command in their order, or none where it
// is no command, or a long one. They tell what a command may be about, not what it does: that
// is for [Policy.Decide].
func Words(command string) (words []Word) {
	if len(command) > maxParsedBytes {
		return nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		if word, ok := node.(*syntax.Word); ok {
			text, err := literal(word)
			words = append(words, Word{text, err == nil})
		}
		return true
	})
	return words
}
