package truncate_test

import (
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

func TestTruncate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text      string
		n         int
		after, to string
	}{
		{"", 1, "", ""},
		{"größe", 5, "größe", "größe"},
		{"größer", 5, "größe…", "größ…"},
		{"größer", 1, "g…", "…"},
		{"a\xffb\xffc", 3, "a\xffb…", "a\xff…"},
	} {
		if got := truncate.After(test.text, test.n); got != test.after {
			t.Errorf("After(%q, %d) is %q, want %q", test.text, test.n, got, test.after)
		}
		if got := truncate.To(test.text, test.n); got != test.to {
			t.Errorf("To(%q, %d) is %q, want %q", test.text, test.n, got, test.to)
		}
	}
}
