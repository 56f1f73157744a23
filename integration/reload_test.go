package integration

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

const (
	resourcesChanged = "notifications/resources/list_changed"
	promptsChanged   = "notifications/prompts/list_changed"
	resourceUpdated  = "notifications/resources/updated"
)

// A client that stays connected sees skills appear, change and go.
func TestHotReload(t *testing.T) {
	forEach(t, typeScript(), func(t *testing.T, c client) {
		root := t.TempDir()
		writeSkill(t, root, "tide", "Low water at nine.")
		const uri = "skill://tide/SKILL.md"

		p := connect(t, c, root)
		var watching any
		p.call(t, &watching, "watch", uri)

		writeSkill(t, root, "wind", "Force four.")
		p.notified(t, resourcesChanged, "")
		p.notified(t, promptsChanged, "")
		if text := activated(t, p, "wind"); !strings.Contains(text, "Force four.") {
			t.Errorf("the new skill activates as %q", text)
		}
		checkPromptNames(t, p, "tide", "wind")

		writeSkill(t, root, "tide", "Low water at ten.")
		p.notified(t, resourceUpdated, uri)
		if text := p.resource(t, uri).Text; !strings.Contains(text, "Low water at ten.") {
			t.Errorf("after the update, %s = %q", uri, text)
		}

		// The skill written last is there, so the broken one was seen too.
		writeFile(t, filepath.Join(root, "tide", "SKILL.md"), "---\nname: [tide\n---\nLow water never.\n")
		writeSkill(t, root, "fog", "None.")
		program.Eventually(t, "fog activates", func() bool { return strings.Contains(activated(t, p, "fog"), "None.") })
		if text := activated(t, p, "tide"); !strings.HasPrefix(text, `<skill_content name="tide"`) || !strings.Contains(text, "frontmatter is broken") {
			t.Errorf("after a broken save the skill activates as %q, want it with its last good frontmatter, and a word on that", text)
		}

		checkPromptNames(t, p, "fog", "tide", "wind")

		if err := os.RemoveAll(filepath.Join(root, "wind")); err != nil {
			t.Fatal(err)
		}
		program.Eventually(t, "wind is gone", func() bool {
			return strings.HasPrefix(activated(t, p, "wind"), "skill_not_found")
		})
	})
}

func checkPromptNames(t *testing.T, p *peer, want ...string) {
	t.Helper()
	if got := names(p.list(t, "listPrompts", "prompts")); !slices.Equal(got, want) {
		t.Errorf("prompts = %q, want %q", got, want)
	}
}

// activated returns what activating a skill says, an error's text too.
func activated(t *testing.T, p *peer, name string) string {
	t.Helper()
	return p.tool(t, "activate", map[string]any{"name": name}).text()
}
