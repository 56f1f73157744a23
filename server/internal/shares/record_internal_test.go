package shares

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	report := Report{
		Project: &Shown{Path: "/work", Access: Review},
		Shares:  []Shown{{Path: "/data", Access: Read}, {Access: Off, Reason: "It is gone."}},
		Changes: &ChangeSet{ID: "cs-1", Of: "/work", Held: []changes.Change{{Path: "a"}, {Path: "b"}}, Omitted: 3,
			Refused: []changes.Refusal{{Path: ".git/config"}}},
		OtherChanges: []ChangeSet{{ID: "cs-2", Of: "/other", outcome: changes.Outcome{
			Applied: []changes.Change{{Path: "out/c"}}, Conflicts: []changes.Refusal{{Path: "out/d"}},
		}}},
	}
	if diff := cmp.Diff([]string{"project review /work", "share read /data"}, report.Granted()); diff != "" {
		t.Errorf("granted (-want +got):\n%s", diff)
	}
	want := []audit.Changes{
		{ID: "cs-1", Of: "/work", Held: 5, Refused: []string{".git/config"}},
		{ID: "cs-2", Of: "/other", Applied: []string{"out/c"}, Conflicts: []string{"out/d"}},
	}
	if diff := cmp.Diff(want, report.Record()); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	if none := (Report{}); none.Granted() != nil || none.Record() != nil {
		t.Errorf("of nothing are recorded %v and %v", none.Granted(), none.Record())
	}
}
