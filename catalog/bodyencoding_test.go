package catalog_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestBodyEncoding: what is not UTF-8 in a body is told of with its place,
// though a scan keeps nothing of the body.
func TestBodyEncoding(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é\n", 10_000)
	dir := plant(t, nil)
	path := filepath.Join(dir, "demo/SKILL.md")
	c := openDirs(t, dir)
	for _, test := range []struct {
		body         string
		line, column int // of the fault, from the body's first line
	}{
		{"good", 0, 0},
		{"caf\xe9", 1, 4},
		{long, 0, 0},
		{long + "ab\xff", 10_001, 3},
		{long + "abc", 0, 0},
		{"\xc3", 1, 1},
		{"é\n\xff" + strings.Repeat("é\n", 500_000), 2, 1},
		{"ab" + strings.Repeat("é", 600_000), 0, 0}, // no fault where the look ends
		{"abc" + strings.Repeat("é", 600_000), 0, 0},
	} {
		write(t, path, skillText("demo", "x")+test.body)
		s := rescan(t, c)
		lookup(t, s, "demo")
		if test.line == 0 {
			wantRules(t, s.Problems(), "")
			continue
		}
		wantRules(t, s.Problems(), "body-encoding")
		before := strings.Count(skillText("demo", "x"), "\n")
		if p := s.Problems()[0]; p.Line != before+test.line || p.Column != test.column {
			t.Errorf("%.20q: line %d, column %d", test.body, p.Line, p.Column)
		}
	}
}
