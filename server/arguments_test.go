package server_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestArguments: a placeholder is what is spelled exactly so, and where there is
// none, what was given follows the text.
func TestArguments(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bodies := map[string]string{
		"once": "Review: $ARGUMENTS.", "twice": "$ARGUMENTS\n\n$ARGUMENTS", "none": "Review code", "other": "$arguments $Arguments",
	}
	for name, body := range bodies {
		writeFile(t, filepath.Join(root, name, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: Reviews.\n---\n"+body))
	}
	c := newFixture(t, root).connect(t)
	for _, test := range []struct{ skill, arguments, want string }{
		{"once", "code", "Review: code."},
		{"twice", "test", "test\n\ntest"},
		{"once", "", "Review: ."},
		{"none", "def foo()", "Review code\n\nARGUMENTS: def foo()"},
		{"none", "", "Review code"},
		{"other", "x", "$arguments $Arguments\n\nARGUMENTS: x"},
		{"once", "$ARGUMENTS", "Review: $ARGUMENTS."},
	} {
		text := c.call(t, "activate", map[string]any{"name": test.skill, "arguments": test.arguments}).text()
		_, body, _ := strings.Cut(text, "</skill_runtime>\n\n")
		if body = strings.TrimSuffix(body, "\n</skill_content>"); strings.TrimSuffix(body, "\n") != test.want {
			t.Errorf("%s with %q: %q, want %q", test.skill, test.arguments, body, test.want)
		}
	}
}
