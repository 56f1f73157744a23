package catalog_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/testdata"
)

// TestInvalidSkills scans the skills at fault in both modes, and finds of each
// what the table beside them says.
func TestInvalidSkills(t *testing.T) {
	t.Parallel()
	for mode, strict := range map[string]bool{"default": false, "strict": true} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := open(t, catalog.Options{Roots: []catalog.Root{{Path: testdata.Invalid()}}, Strict: strict}).Snapshot()
			for _, outcome := range testdata.InvalidOutcomes(t) {
				verdict := outcome.Default
				if strict {
					verdict = outcome.Strict
				}
				t.Run(outcome.Dir, func(t *testing.T) { checkOutcome(t, s, outcome, verdict) })
			}
		})
	}
}

func checkOutcome(t *testing.T, s *catalog.Snapshot, outcome testdata.Outcome, verdict testdata.Verdict) {
	dir := filepath.Join(testdata.Invalid(), filepath.FromSlash(outcome.Dir))
	published := slices.ContainsFunc(s.Skills(), func(skill *catalog.Skill) bool { return skill.Dir == dir })
	if want := verdict != testdata.Excluded; published != want {
		t.Errorf("published %v, want %v", published, want)
	}
	var found []catalog.Problem
	for _, p := range s.Problems() {
		if strings.HasPrefix(p.File, dir+string(filepath.Separator)) {
			if slices.ContainsFunc(found, func(q catalog.Problem) bool { return q.Rule == p.Rule && q.Line == p.Line && q.Column == p.Column }) {
				t.Errorf("%s is reported twice for line %d, column %d: %s", p.Rule, p.Line, p.Column, p.Message)
			}
			found = append(found, p)
			checkProblem(t, p)
		}
	}
	if verdict == testdata.Loads {
		if len(found) > 0 {
			t.Errorf("is to load without a problem, and has %v", found)
		}
		return
	}
	severity := catalog.Warning
	if verdict == testdata.Excluded {
		severity = catalog.Error
	}
	if !slices.ContainsFunc(found, func(p catalog.Problem) bool { return p.Rule == outcome.Rule }) {
		t.Errorf("%s is not reported; the problems are %v", outcome.Rule, found)
	}
	if worst := slices.MaxFunc(append(found, catalog.Problem{}), func(a, b catalog.Problem) int { return int(a.Severity - b.Severity) }); worst.Severity != severity {
		t.Errorf("the worst problem is of severity %v, want %v: %v", worst.Severity, severity, found)
	}
}

// lineless are the rules about files as a whole, or about two of them.
var lineless = []string{"entry-lowercase", "entry-case", "entry-type", "name-taken"}

// checkProblem holds a problem to what its author needs: where it is and what
// to do.
func checkProblem(t *testing.T, p catalog.Problem) {
	t.Helper()
	if p.Message == "" || p.Hint == "" {
		t.Errorf("%s has the message %q and the hint %q", p.Rule, p.Message, p.Hint)
	}
	if slices.Contains(lineless, p.Rule) {
		if p.Line != 0 || p.Column != 0 {
			t.Errorf("%s is of no line, and is given %d:%d", p.Rule, p.Line, p.Column)
		}
		return
	}
	document, err := os.ReadFile(p.File)
	check(t, err)
	if last := max(1, bytes.Count(document, []byte("\n"))); p.Line < 1 || p.Line > last {
		t.Errorf("%s is in line %d of %d", p.Rule, p.Line, last)
	}
}

// TestInvalidTable: every directory with an entry document has a row, so that
// no fault goes untested.
func TestInvalidTable(t *testing.T) {
	t.Parallel()
	rows := map[string]bool{}
	for _, outcome := range testdata.InvalidOutcomes(t) {
		if rows[outcome.Dir] {
			t.Errorf("%s has two rows", outcome.Dir)
		}
		rows[outcome.Dir] = true
		if (outcome.Rule == "") != (outcome.Default == testdata.Loads && outcome.Strict == testdata.Loads) {
			t.Errorf("%s has the rule %q, and the verdicts %s and %s", outcome.Dir, outcome.Rule, outcome.Default, outcome.Strict)
		}
		if info, err := os.Stat(filepath.Join(testdata.Invalid(), outcome.Dir)); err != nil || !info.IsDir() {
			t.Errorf("%s is no directory", outcome.Dir)
		}
	}
	children, err := os.ReadDir(testdata.Invalid())
	check(t, err)
	for _, child := range children {
		if !child.IsDir() {
			continue
		}
		// A fault that takes two skills has its rows one level down.
		covered := false
		for dir := range rows {
			covered = covered || dir == child.Name() || strings.HasPrefix(dir, child.Name()+"/")
		}
		if !covered {
			t.Errorf("%s has no row", child.Name())
		}
	}
}

// TestValidSkills: the samples have no problem in either mode.
func TestValidSkills(t *testing.T) {
	t.Parallel()
	for _, strict := range []bool{false, true} {
		s := open(t, catalog.Options{Roots: []catalog.Root{{Path: testdata.Valid()}}, Strict: strict}).Snapshot()
		wantNames(t, s, "brand-kit csv-profile log-triage release-notes report-writer skills-system-validation table-style unicode-detective unit-convert")
		wantRules(t, s.Problems(), "")
	}
}
