package search

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
)

const (
	// nameWeight is how often a word of the name counts.
	nameWeight = 3
	// minPrefix is how many bytes of a word must be given for it to match.
	minPrefix = 3
	// Parameters of BM25: how soon a word that is repeated counts no more, and how
	// much a long text counts less.
	saturation, lengthWeight = 1.2, 0.75
)

// document is what is known of one skill.
type document struct {
	skill *catalog.Skill
	words int // with repetitions
}

// posting says how often a word is in a document.
type posting struct {
	document int32 // the index in words.documents
	count    int32
}

// words is an inverted index.
type words struct {
	documents []*document // nil where there is none
	free      []int32     // indexes of documents that are nil
	byName    map[string]int32
	postings  map[string][]posting // by word, sorted by document
	// vocabulary holds the words, sorted, to find those that begin alike. Some may
	// be in no document any more.
	vocabulary []string
	total      int // words in all documents
}

// follow adds, changes and removes what a snapshot has otherwise than the one
// before, which is nil at first.
func (w *words) follow(before, after *catalog.Snapshot) {
	if w.byName == nil {
		w.byName = make(map[string]int32)
		w.postings = make(map[string][]posting)
	}
	known := len(w.postings)
	var added []string
	after.Since(before, func(was, now *catalog.Skill) {
		if was != nil && !was.UserOnly {
			id := w.byName[was.Name]
			if now != nil && !now.UserOnly && now.Description == was.Description {
				w.documents[id].skill = now
				return
			}
			w.remove(id)
		}
		if now != nil && !now.UserOnly {
			added = append(added, w.add(now)...)
		}
	})
	w.learn(added, known)
}

// add adds a skill, and returns words that no document had.
func (w *words) add(skill *catalog.Skill) (added []string) {
	id := int32(len(w.documents))
	if last := len(w.free) - 1; last >= 0 {
		id, w.free = w.free[last], w.free[:last]
	} else {
		w.documents = append(w.documents, nil)
	}
	counts, total := count(skill)
	for word, n := range counts {
		list := w.postings[word]
		if len(list) == 0 {
			added = append(added, word)
		}
		at, _ := slices.BinarySearchFunc(list, id, byDocument)
		w.postings[word] = slices.Insert(list, at, posting{id, n})
	}
	w.documents[id] = &document{skill, total}
	w.byName[skill.Name] = id
	w.total += total
	return added
}

func byDocument(p posting, id int32) int { return cmp.Compare(p.document, id) }

func (w *words) remove(id int32) {
	document := w.documents[id]
	counts, _ := count(document.skill)
	for word := range counts {
		list := w.postings[word]
		if at, ok := slices.BinarySearchFunc(list, id, byDocument); ok {
			list = slices.Delete(list, at, at+1)
		}
		if len(list) == 0 {
			delete(w.postings, word)
		} else {
			w.postings[word] = list
		}
	}
	delete(w.byName, document.skill.Name)
	w.documents[id] = nil
	w.free = append(w.free, id)
	w.total -= document.words
}

// learn adds words to the vocabulary: few one by one, as after a save, and many
// at once.
func (w *words) learn(added []string, known int) {
	const few = 100
	if len(added) > few || len(w.vocabulary) > 2*known+few {
		w.vocabulary = w.vocabulary[:0]
		for word := range w.postings {
			w.vocabulary = append(w.vocabulary, word)
		}
		slices.Sort(w.vocabulary)
		return
	}
	for _, word := range added {
		if at, ok := slices.BinarySearch(w.vocabulary, word); !ok {
			w.vocabulary = slices.Insert(w.vocabulary, at, word)
		}
	}
}

// score adds what one word of a query weighs to each document. counts are all
// zero before and after.
func (w *words) score(scores, counts []float64, t term) {
	holders := 0
	var touched []int32
	w.each(t, func(p posting, weight float64) {
		if counts[p.document] == 0 {
			holders++
			touched = append(touched, p.document)
		}
		counts[p.document] += weight * float64(p.count)
	})
	documents := float64(len(w.byName))
	average := float64(w.total) / max(1, documents)
	rarity := math.Log(1 + (documents-float64(holders)+0.5)/(float64(holders)+0.5))
	for _, id := range touched {
		length := float64(w.documents[id].words) / max(1, average)
		scores[id] += rarity * counts[id] * (saturation + 1) /
			(counts[id] + saturation*(1-lengthWeight+lengthWeight*length))
		counts[id] = 0
	}
}

// each calls a function for each document of a word, and of longer words that it
// begins.
func (w *words) each(t term, call func(posting, float64)) {
	for _, p := range w.postings[t.stem] {
		call(p, 1)
	}
	if len(t.word) < minPrefix {
		return
	}
	from, _ := slices.BinarySearch(w.vocabulary, t.word)
	for _, word := range w.vocabulary[from:] {
		if !strings.HasPrefix(word, t.word) {
			return
		}
		if word == t.stem {
			continue
		}
		for _, p := range w.postings[word] {
			call(p, 0.5)
		}
	}
}

// count counts the words of a skill.
func count(skill *catalog.Skill) (counts map[string]int32, total int) {
	counts = make(map[string]int32)
	for _, t := range terms(skill.Name) {
		counts[t.stem] += nameWeight
		total += nameWeight
	}
	for _, t := range terms(skill.Description) {
		counts[t.stem]++
		total++
	}
	return counts, total
}
