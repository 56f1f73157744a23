package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func sample(goal goal, own, other, before float64) row {
	return row{measure: measure{name: "reads", unit: "/s", goal: goal},
		medians: []median{{ours, own}, {bareHandler, other}, {base, before}}}
}

// TestVerdicts: what is printed says whether a goal is met, and a clear step back
// is an error.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		row     row
		says    string
		regress bool
	}{
		{"more is better", sample(goal{0.6, bareHandler, true}, 70, 100, 71), "| reads | 70 /s | bare handler 100 /s (0.7 times), other build 71 /s (0.99 times) | at least 0.6 times of bare handler | met |", false},
		{"too few", sample(goal{0.6, bareHandler, true}, 50, 100, 61), "| not met, regressed |", true},
		{"less is better", sample(goal{bound: 70}, 70, 100, 80), "| at most 70 /s | met |", false},
		{"too much", sample(goal{bound: 70}, 84.5, 100, 70), "| at most 70 /s | not met, regressed |", true},
		{"no goal", sample(goal{}, 70, 100, 70), "|  |  |", false},
		{"not there", row{measure: measure{name: "runs", goal: goal{bound: 1, of: bubblewrap}}, missing: "no bwrap"}, "| runs | not measured: no bwrap |", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := report{rows: []row{test.row}}
			var text strings.Builder
			r.print(&text)
			if !strings.Contains(text.String(), test.says) {
				t.Errorf("the report is\n%s\nwithout %s", &text, test.says)
			}
			if err := r.regressed(); errors.Is(err, errRegressed) != test.regress {
				t.Errorf("regressed: %v", err)
			}
		})
	}
}

// TestPage: a page keeps what is around the table, and is not touched where it has
// no place for one.
func TestPage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "page.md")
	r := report{rows: []row{sample(goal{}, 1, 2, 3)}}
	for text, ok := range map[string]bool{"before\n" + pageBegin + "old\n" + pageEnd + "after\n": true, "nothing\n": false} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := r.update(path); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !ok && string(got) != text {
			t.Errorf("the page became %q", got)
		}
		if s := string(got); ok && (!strings.HasPrefix(s, "before\n"+pageBegin) || !strings.HasSuffix(s, pageEnd+"after\n") || strings.Contains(s, "old") || !strings.Contains(s, "| reads |")) {
			t.Errorf("the page became %q", s)
		}
	}
}

// TestLibrariesAreEqual: every run measures the same skills.
func TestLibrariesAreEqual(t *testing.T) {
	t.Parallel()
	var texts []string
	for range 2 {
		b := &bench{dir: t.TempDir(), libraries: map[int]string{}}
		dir, err := b.library(3)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, skillName(2), "SKILL.md"))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] || !strings.HasPrefix(texts[0], "---\nname: "+skillName(2)+"\n") {
		t.Errorf("the skills are %q", texts)
	}
}
