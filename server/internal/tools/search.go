package tools

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/skills-mcp/skills-mcp/catalog"
)

// rank returns the skills that match a query, best first. It is BM25 over
// description words with the name's words counted thrice, since a name is the
// author's own summary; a query word also matches longer words it begins.
func rank(skills []*catalog.Skill, query string) []*catalog.Skill {
	terms := words(query)
	documents := make([][]string, len(skills))
	total := 0
	for i, skill := range skills {
		name := words(skill.Name)
		documents[i] = slices.Concat(name, name, name, words(skill.Description))
		total += len(documents[i])
	}
	scores := make([]float64, len(skills))
	for _, term := range terms {
		addScores(scores, documents, term, float64(total)/math.Max(1, float64(len(skills))))
	}
	order := make([]int, 0, len(skills))
	for i, skill := range skills {
		if strings.EqualFold(skill.Name, strings.TrimSpace(query)) {
			scores[i] = math.Inf(1)
		}
		if scores[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	ranked := make([]*catalog.Skill, len(order))
	for i, at := range order {
		ranked[i] = skills[at]
	}
	return ranked
}

// addScores adds one term's BM25 weight (k1 = 1.2, b = 0.75) to each
// document that holds it.
func addScores(scores []float64, documents [][]string, term string, averageLength float64) {
	counts := make([]float64, len(documents))
	holders := 0.0
	for i, document := range documents {
		counts[i] = occurrences(document, term)
		if counts[i] > 0 {
			holders++
		}
	}
	weight := math.Log(1 + (float64(len(documents))-holders+0.5)/(holders+0.5))
	for i, count := range counts {
		length := float64(len(documents[i])) / math.Max(1, averageLength)
		scores[i] += weight * count * 2.2 / (count + 1.2*(0.25+0.75*length))
	}
}

// occurrences counts a term; a word that it only begins counts half.
func occurrences(document []string, term string) float64 {
	count := 0.0
	for _, word := range document {
		switch {
		case word == term:
			count++
		case len(term) >= 3 && strings.HasPrefix(word, term):
			count += 0.5
		}
	}
	return count
}

// words splits text into lower-case words and numbers.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}
