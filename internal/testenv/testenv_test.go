package testenv

import (
	"errors"
	"slices"
	"testing"
)

func TestNeed(t *testing.T) {
	t.Setenv(requiredVariable, "python, node")
	if got := Required(); !slices.Equal(got, []string{"python", "node"}) {
		t.Errorf("required are %q", got)
	}
	missing := errors.New("not installed")
	for _, test := range []struct {
		name    string
		missing error
		want    outcome
	}{
		{"python", nil, outcome{}},
		{"docker", nil, outcome{}},
		{"python", missing, outcome{failed: true}},
		{"docker", missing, outcome{skipped: true}},
	} {
		var got outcome
		Need(&got, test.name, test.missing)
		if got.TB = nil; got != test.want {
			t.Errorf("%s, %v: %+v", test.name, test.missing, got)
		}
	}
}

func TestLevels(t *testing.T) {
	for level, want := range map[string]struct {
		variant outcome
		rounds  int
	}{
		"":    {outcome{skipped: true}, 1},
		"all": {outcome{}, 9},
		"al":  {outcome{failed: true, skipped: true}, 1},
	} {
		t.Setenv(levelVariable, level)
		if testing.Short() && level == "all" {
			continue // means nothing there
		}
		var got outcome
		Variant(&got, "again")
		if got != want.variant || Rounds(&got, 1, 9) != want.rounds {
			t.Errorf("%q: %+v", level, got)
		}
	}
}

// outcome is a test that goes on after it has failed or was skipped.
type outcome struct {
	testing.TB
	failed, skipped bool
}

func (o *outcome) Helper()               {}
func (o *outcome) Fatalf(string, ...any) { o.failed = true }
func (o *outcome) Skipf(string, ...any)  { o.skipped = true }
