package audit

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Summary sums records up.
type Summary struct {
	// Skill is what they have in common; empty for those about no skill.
	Skill string `json:"skill"`
	// Calls is how many there are, and Runs how many of them ran a program to
	// an end.
	Calls int `json:"calls"`
	Runs  int `json:"runs"`
	// Failed, Denied and Unfinished are how many had that outcome.
	Failed     int `json:"failed"`
	Denied     int `json:"denied"`
	Unfinished int `json:"unfinished"`
	// DurationMs is how long all took together, in milliseconds.
	DurationMs float64 `json:"durationMs"`
	// Last is the time of the newest.
	Last time.Time `json:"last"`
}

// Summaries sums records up by their skills.
type Summaries struct{ bySkill map[string]*Summary }

// Add adds a record.
func (s *Summaries) Add(r Record) {
	if s.bySkill == nil {
		s.bySkill = map[string]*Summary{}
	}
	sum := s.bySkill[r.Skill]
	if sum == nil {
		sum = &Summary{Skill: r.Skill}
		s.bySkill[r.Skill] = sum
	}
	sum.Calls++
	if r.Status != "" {
		sum.Runs++
	}
	switch r.Outcome {
	case Failed:
		sum.Failed++
	case Denied:
		sum.Denied++
	case Unfinished:
		sum.Unfinished++
	}
	sum.DurationMs += r.DurationMs
	if r.Time.After(sum.Last) {
		sum.Last = r.Time
	}
}

// List returns the sums, those of most calls first.
func (s *Summaries) List() []Summary {
	list := []Summary{}
	for _, sum := range slices.Collect(maps.Values(s.bySkill)) {
		list = append(list, *sum)
	}
	slices.SortFunc(list, func(a, b Summary) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Skill, b.Skill))
	})
	return list
}
