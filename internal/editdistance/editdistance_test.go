package editdistance_test

import (
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/editdistance"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 256)
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"csv-profile", "csv-profile", 0},
		{"csv-profile", "csv-profle", 1},
		{"csv-profile", "cvs-profile", 2},
		{"csv-profile", "csv_profile", 1},
		{"kitten", "sitting", 3},
		{"run.py", "scripts/run.py", 8},
		{"größe", "grosse", 4},
		{"\xff\xfe", "\xff", 1},
		{long + "a", long + "bcd", 0},
		{long, "", 256},
	} {
		if got := editdistance.Between(test.a, test.b); got != test.want {
			t.Errorf("from %.20q to %.20q it is %d, want %d", test.a, test.b, got, test.want)
		}
		if got := editdistance.Between(test.b, test.a); got != test.want {
			t.Errorf("from %.20q to %.20q it is %d, want %d", test.b, test.a, got, test.want)
		}
	}
}
