// Package truncate shortens text that others chose, before it is shown.
package truncate

import "unicode/utf8"

// ellipsis stands for what was left out.
const ellipsis = "…"

// After returns the first n characters of a text, and an ellipsis if there are
// more.
func After(text string, n int) string {
	count := 0
	for i := range text {
		if count == n {
			return text[:i] + ellipsis
		}
		count++
	}
	return text
}

// To returns a text of at most n characters, 1 or more, an ellipsis included.
func To(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return After(text, n-1)
}
