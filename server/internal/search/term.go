package search

import (
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
)

// term is a word of a text.
type term struct {
	word string // in lower case
	stem string // what all forms of an English word have in common
}

// terms returns the words and numbers of a text, without those of English that
// every text has. Of scripts that put no space between words it returns each two
// characters that follow each other.
func terms(text string) []term {
	var found []term
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !inWord(r) }) {
		if strings.ContainsFunc(word, unspaced) {
			found = append(found, pairs(word)...)
		} else if !english.IsStopWord(word) {
			found = append(found, term{word, english.Stem(word, false)})
		}
	}
	return found
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// unspaced reports whether a character is of a script without spaces.
func unspaced(r rune) bool {
	return r > unicode.MaxLatin1 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// pairs returns each two characters that follow each other in a word, or its only
// one.
func pairs(word string) []term {
	characters := []rune(word)
	found := make([]term, 0, len(characters))
	for i := range max(1, len(characters)-1) {
		pair := string(characters[i:min(i+2, len(characters))])
		found = append(found, term{pair, pair})
	}
	return found
}
