package advice

import (
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// maxCommandWords is how many words of a command are looked at.
const maxCommandWords = 256

// relativePaths returns the clean relative paths among the words of a shell
// command, and among what follows an equals sign in them. There are none where
// the command goes to a directory that only a shell could tell.
func relativePaths(command string) (paths []string) {
	words := policy.Words(command)
	for i, word := range words[:min(maxCommandWords, len(words))] {
		if !word.Literal {
			if i > 0 && slices.Contains([]string{"cd", "pushd"}, words[i-1].Text) {
				return nil
			}
			continue
		}
		_, value, _ := strings.Cut(word.Text, "=")
		for _, text := range []string{word.Text, value} {
			clean, err := contained.Clean(text)
			if err == nil && clean != "." && !slices.Contains(paths, clean) {
				paths = append(paths, clean)
			}
		}
	}
	return paths
}
