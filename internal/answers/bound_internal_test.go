package answers

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// TestBounded: one answer more than may be takes the place of the oldest.
func TestBounded(t *testing.T) {
	t.Parallel()
	many := func(i int) Subject {
		return Subject{Skill: "report", Root: "/skills/report", Digest: "sha256:one", Kind: "apply", Grant: fmt.Sprint(i)}
	}
	dir := filepath.Join(t.TempDir(), "grants")
	s := New(Options{Dir: dir})
	var full []Answer
	for i := range maxAnswers {
		full = append(full, Answer{ID: many(i).id(), Subject: many(i), Given: time.Unix(1, 0).UTC()})
	}
	err := s.file.update(func([]Answer) []Answer { return full })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remember(many(maxAnswers), ""); err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]bool{0: false, 1: true, maxAnswers - 1: true, maxAnswers: true} {
		if _, ok := s.Find(many(i)); ok != want {
			t.Errorf("answer %d is there: %t", i, ok)
		}
	}
}
