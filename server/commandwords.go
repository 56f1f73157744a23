package server

import (
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// maxCommandWords is how many words of a command are looked at.
const maxCommandWords = 256

// relativePaths gives the clean relative paths among the words of a shell
// command, and among what follows an equals sign in them. It takes a guess at
// the words, not more: it is for advice. There are none where the command goes
// to a directory that only a shell could tell.
func relativePaths(command string) (paths []string) {
	words := shellWords(command)
	for i, word := range words {
		if !word.literal {
			if i > 0 && slices.Contains([]string{"cd", "pushd"}, words[i-1].text) {
				return nil
			}
			continue
		}
		_, value, _ := strings.Cut(word.text, "=")
		for _, text := range []string{word.text, value} {
			clean, err := contained.Clean(text)
			if err == nil && clean != "." && !slices.Contains(paths, clean) {
				paths = append(paths, clean)
			}
		}
	}
	return paths
}

// shellWord is a word of a command, its quotes taken off. One that a shell
// would expand is not literal.
type shellWord struct {
	text    string
	literal bool
}

// shellWords splits a command at blanks and operators outside of quotes.
func shellWords(command string) (words []shellWord) {
	var word strings.Builder
	begun, literal := false, true
	end := func() {
		if begun && len(words) < maxCommandWords {
			words = append(words, shellWord{word.String(), literal})
		}
		word.Reset()
		begun, literal = false, true
	}
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case strings.IndexByte(" \t\n;|&()<>", c) >= 0:
			end()
		case c == '\'' || c == '"':
			text, expands := quoted(command[i+1:], c)
			word.WriteString(text)
			begun, literal = true, literal && !expands
			i += len(text) + 1
		case c == '\\' && i+1 < len(command):
			i++
			word.WriteByte(command[i])
			begun = true
		default:
			word.WriteByte(c)
			begun, literal = true, literal && strings.IndexByte("$`*?[{~", c) < 0
		}
	}
	end()
	return words
}

// quoted gives what stands before the closing quote, and whether a shell would
// expand it.
func quoted(rest string, quote byte) (text string, expands bool) {
	text, _, _ = strings.Cut(rest, string(quote))
	return text, quote == '"' && strings.ContainsAny(text, "$`\\")
}
