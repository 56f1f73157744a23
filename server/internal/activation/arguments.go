package activation

import "strings"

// argumentsPlaceholder stands for what the user said after a skill's name.
const argumentsPlaceholder = "$ARGUMENTS"

// withArguments resolves a body's arguments: every placeholder is replaced;
// where there is none, arguments that were given are appended.
func withArguments(body, arguments string) string {
	if strings.Contains(body, argumentsPlaceholder) {
		return strings.ReplaceAll(body, argumentsPlaceholder, arguments)
	}
	if arguments == "" {
		return body
	}
	return strings.TrimRight(body, "\n") + "\n\nARGUMENTS: " + arguments + "\n"
}
