package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/server"
)

// TestListedEntriesConform: skills/list gives only what hosts accept as an
// entry of the extension, since one that they do not spoils the whole listing
// to some. Everything else still serves the others.
func TestListedEntriesConform(t *testing.T) {
	t.Parallel()
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
		{"blank-text", "name: blank-text\ndescription: \"\\x1c \\uFEFF\"", false},
		{"license", "name: license\ndescription: Does it.\nlicense: MIT\nallowed-tools: Read Bash(git:*)", true},
		{"license-number", "name: license-number\ndescription: Does it.\nlicense: 2.0", false},
		{"license-null", "name: license-null\ndescription: Does it.\nlicense:", false},
		{"license-map", "name: license-map\ndescription: Does it.\nlicense:\n  name: MIT", false},
		{"tools-list", "name: tools-list\ndescription: Does it.\nallowed-tools: [Read, Write]", false},
		{"tools-null", "name: tools-null\ndescription: Does it.\nallowed-tools:", false},
		{"tools-number", "name: tools-number\ndescription: Does it.\nallowed-tools: 5", false},
		{"proto", "name: proto\ndescription: Does it.\n__proto__: {}", false},
		{"huge", "name: huge\ndescription: Does it.\nextra: [1e400]", false},
		{"con", "name: con\ndescription: Does it.", false},
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
	t.Parallel()
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

// TestListedPathsAreOnesOfEverySystem: hosts install what is listed, on any
// file system.
func TestListedPathsAreOnesOfEverySystem(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	files := map[string]string{
		"good": "references/größe a.b.md", "colon": "ab:c.md", "question": "why?.md", "dot": "references./a.md", "space": "a /b.md", "reserved": "references/NUL.txt",
		"control": "a\x1bb.md", "source": ".skill-source.json", "upper": "references/Guide.md", "entry-case": "Skill.md", "composed": "gro\u0308\u00dfe.md",
	}
	for skill, file := range files {
		writeFile(t, filepath.Join(root, skill, "SKILL.md"), fmt.Appendf(nil, "---\nname: %s\ndescription: Does it.\n---\n", skill))
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, skill, file)), 0o755); err != nil {
			t.Skip("this system has no such names")
		}
		for _, name := range []string{file, map[string]string{"upper": "references/guide.md", "composed": "gr\u00f6\u00dfe.md"}[skill]} {
			if name != "" && os.WriteFile(filepath.Join(root, skill, name), nil, 0o644) != nil {
				t.Skip("this system has no such names")
			}
		}
	}
	f := newFixture(t, root)
	var list struct{ Skills []struct{ URI string } }
	f.request(t, "skills/list", nil, &list)
	if len(list.Skills) != 1 || list.Skills[0].URI != "skill://good/SKILL.md" {
		t.Errorf("listed are %v", list.Skills)
	}
	for _, skill := range f.catalog.Snapshot().Skills() {
		if (server.EntryFault(skill) == "") != (skill.Name == "good") {
			t.Errorf("%s: %q", skill.Name, server.EntryFault(skill))
		}
	}
}
