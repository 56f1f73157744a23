// Package search ranks the skills of a catalog by what a task is about.
package search

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/skills-mcp/skills-mcp/catalog"
)

// Index finds skills by the words of their names and descriptions. It is made
// when first asked, and then follows the catalog by what changed. Its zero value
// is ready for use, by several goroutines.
type Index struct {
	mu       sync.RWMutex
	snapshot *catalog.Snapshot // that of the words below
	words    words
}

// Find returns at most n of the skills for models that match a query, best first, after
// skipping as many of the best, and how many match in all. Equally good ones are
// in the order of their names.
//
// It is BM25 with the name's words counted thrice, since a name is the author's
// own summary. Words of English count in all their forms, and a query's word also
// matches longer words that it begins, at half the weight. A query that is a
// skill's name finds that skill first.
func (x *Index) Find(snapshot *catalog.Snapshot, query string, skip, n int) (found []*catalog.Skill, total int) {
	x.follow(snapshot)
	x.mu.RLock()
	defer x.mu.RUnlock()
	scores := make([]float64, len(x.words.documents))
	counts := make([]float64, len(scores))
	asked := make(map[term]bool)
	for _, t := range terms(query) {
		if !asked[t] {
			x.words.score(scores, counts, t)
			asked[t] = true
		}
	}
	name := strings.TrimSpace(query)
	best := ranking{limit: skip + n}
	for id, document := range x.words.documents {
		if document == nil {
			continue
		}
		if strings.EqualFold(document.skill.Name, name) {
			scores[id] = math.Inf(1)
		}
		if scores[id] > 0 {
			total++
			best.offer(match{document.skill, scores[id]})
		}
	}
	return best.after(skip), total
}

// follow makes the words those of a snapshot.
func (x *Index) follow(snapshot *catalog.Snapshot) {
	x.mu.RLock()
	same := x.snapshot == snapshot
	x.mu.RUnlock()
	if same {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.snapshot != snapshot {
		x.words.follow(x.snapshot, snapshot)
		x.snapshot = snapshot
	}
}

// match is a skill that matches a query.
type match struct {
	skill *catalog.Skill
	score float64
}

func compare(a, b match) int {
	return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.skill.Name, b.skill.Name))
}

// ranking keeps the best of what it is offered, the worst of them at the root of
// a heap: of 10,000 matches a page of 50 is wanted.
type ranking struct {
	limit   int
	matches []match
}

func (r *ranking) Len() int           { return len(r.matches) }
func (r *ranking) Less(i, j int) bool { return compare(r.matches[i], r.matches[j]) > 0 }
func (r *ranking) Swap(i, j int)      { r.matches[i], r.matches[j] = r.matches[j], r.matches[i] }
func (r *ranking) Push(m any)         { r.matches = append(r.matches, m.(match)) }
func (r *ranking) Pop() any           { panic("search: nothing is taken out") }

func (r *ranking) offer(m match) {
	switch {
	case len(r.matches) < r.limit:
		heap.Push(r, m)
	case r.limit > 0 && compare(m, r.matches[0]) < 0:
		r.matches[0] = m
		heap.Fix(r, 0)
	}
}

// after returns the best, without as many of the best of all.
func (r *ranking) after(skip int) []*catalog.Skill {
	slices.SortFunc(r.matches, compare)
	var skills []*catalog.Skill
	for _, m := range r.matches[min(skip, len(r.matches)):] {
		skills = append(skills, m.skill)
	}
	return skills
}
