package server_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestListedEntriesConform: skills/list gives only what hosts accept as an
// entry of the extension, since one that they do not spoils the whole listing
// to some. Everything else still serves the others.
func TestListedEntriesConform(t *testing.T) {
	tests := []struct {
		directory   string
		frontmatter string
		listed      bool
	}{
		{"plain", "name: plain\ndescription: Does it.", true},
		{"digits-1", "name: digits-1\ndescription: Does it.\nmetadata:\n  version: '1.0'\ncompatibility: Needs git.", true},
		{"long-" + strings.Repeat("n", 59), "name: long-" + strings.Repeat("n", 59) + "\ndescription: " + strings.Repeat("ä", 1024), true},
		{"unknown-field", "name: unknown-field\ndescription: Does it.\nversion: 1.0\nmetadata: {}", true},
		{"Upper", "name: Upper\ndescription: Does it.", false},
		{"double--hyphen", "name: double--hyphen\ndescription: Does it.", false},
		{"edge-", "name: edge-\ndescription: Does it.", false},
		{"größe", "name: größe\ndescription: Does it.", false},
		{"2026", "name: 2026\ndescription: Does it.", false},
		{"number", "name: number\ndescription: 5", false},
		{"long-text", "name: long-text\ndescription: " + strings.Repeat("x", 1025), false},
		{"long-needs", "name: long-needs\ndescription: Does it.\ncompatibility: " + strings.Repeat("x", 501), false},
		{"map-needs", "name: map-needs\ndescription: Does it.\ncompatibility:\n  os: linux", false},
		{"metadata-number", "name: metadata-number\ndescription: Does it.\nmetadata:\n  version: 1.0", false},
		{"metadata-list", "name: metadata-list\ndescription: Does it.\nmetadata: [a]", false},
		{"metadata-null", "name: metadata-null\ndescription: Does it.\nmetadata:", false},
		{"colon", "name: colon\ndescription: Use when: asked.", false},
		{"tag", "name: tag\ndescription: Does it.\nextra: !!binary c2tpbGxz", false},
		{"infinite", "name: infinite\ndescription: Does it.\nextra: .inf", false},
	}
	root := t.TempDir()
	for _, test := range tests {
		writeFile(t, filepath.Join(root, test.directory, "SKILL.md"), fmt.Appendf(nil, "---\n%s\n---\nText.\n", test.frontmatter))
	}
	f := newFixture(t, root)
	listed := map[string]bool{}
	var list struct{ Skills []struct{ URI string } }
	f.request(t, "skills/list", nil, &list)
	for _, skill := range list.Skills {
		listed[skill.URI] = true
	}
	var all struct{ Resources []struct{ Name, URI string } }
	f.request(t, "resources/list", nil, &all)
	uris := map[string]string{}
	for _, resource := range all.Resources {
		uris[resource.Name] = resource.URI
	}
	for _, test := range tests {
		uri := uris[test.directory]
		if uri == "" {
			t.Errorf("%s is not in resources/list: %v", test.directory, uris)
			continue
		}
		if listed[uri] != test.listed {
			t.Errorf("%s listed: %v, want %v", uri, listed[uri], test.listed)
		}
		var got struct{ Skill struct{ URI string } }
		if f.request(t, "skills/get", map[string]any{"uri": uri}, &got); got.Skill.URI != uri {
			t.Errorf("skills/get of %s gives %q", uri, got.Skill.URI)
		}
	}
}

// TestListedEntriesAreJudgedByThemselves: what another skill of the same name
// breaks, which is not served, costs a skill nothing; what it breaks itself, it
// is judged by as it stands now.
func TestListedEntriesAreJudgedByThemselves(t *testing.T) {
	root := t.TempDir()
	plant := func(directory, name, description string) {
		t.Helper()
		writeFile(t, filepath.Join(root, directory, name, "SKILL.md"), fmt.Appendf(nil, "---\nname: %s\ndescription: %s\n---\n", name, description))
	}
	plant(".", "twin", "Does it.")
	plant("more", "twin", "Use when: asked.")
	plant(".", "mended", "Use when: asked.")
	plant(".", "spoilt", "Does it.")
	f := newFixture(t, root)
	for _, want := range []string{
		"[{skill://spoilt/SKILL.md} {skill://twin/SKILL.md}]",
		"[{skill://mended/SKILL.md} {skill://twin/SKILL.md}]",
	} {
		var list struct{ Skills []struct{ URI string } }
		if f.request(t, "skills/list", nil, &list); fmt.Sprint(list.Skills) != want {
			t.Errorf("listed are %v, want %s", list.Skills, want)
		}
		plant(".", "mended", "Does it.")
		plant(".", "spoilt", "Use when: asked.")
	}
}
