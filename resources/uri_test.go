package resources_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/filetest"
)

func TestURI(t *testing.T) {
	t.Parallel()
	plain := &catalog.Skill{Name: "pdf-processing", Path: "pdf-processing", Entry: "SKILL.md"}
	nested := &catalog.Skill{Name: "refunds", Path: "acme/billing/refunds", Entry: "SKILL.md"}
	odd := &catalog.Skill{Name: "größe", Path: "a:b@c/d:e@f [1]/größe", Entry: "SKILL.md"}
	pack := &catalog.Skill{Name: "pack", Path: "pack", Entry: "README.md"}
	tests := []struct {
		skill *catalog.Skill
		file  string
		want  string
	}{
		// The examples of SEP-2640.
		{plain, "SKILL.md", "skill://pdf-processing/SKILL.md"},
		{plain, "references/FORMS.md", "skill://pdf-processing/references/FORMS.md"},
		{plain, ".", "skill://pdf-processing"},
		{nested, "SKILL.md", "skill://acme/billing/refunds/SKILL.md"},
		{nested, "examples/email.md", "skill://acme/billing/refunds/examples/email.md"},
		{nested, ".", "skill://acme/billing/refunds"},
		// RFC 3986: unreserved and sub-delims stay, in a path ":" and "@" too.
		{plain, "a-._~!$&'()*+,;=:@b", "skill://pdf-processing/a-._~!$&'()*+,;=:@b"},
		{plain, "my file.md", "skill://pdf-processing/my%20file.md"},
		{plain, "50%?#[x].md", "skill://pdf-processing/50%25%3F%23%5Bx%5D.md"},
		{plain, "größe/日本.md", "skill://pdf-processing/gr%C3%B6%C3%9Fe/%E6%97%A5%E6%9C%AC.md"},
		{plain, "line\nbreak\x7f\"<>^`{|}", "skill://pdf-processing/line%0Abreak%7F%22%3C%3E%5E%60%7B%7C%7D"},
		{plain, "latin\xe9.md", "skill://pdf-processing/latin%E9.md"},
		// The first segment is the authority to a parser: no port, no user.
		{odd, "SKILL.md", "skill://a%3Ab%40c/d:e@f%20%5B1%5D/gr%C3%B6%C3%9Fe/SKILL.md"},
		// The entry document is addressed as SKILL.md whatever its name.
		{pack, "README.md", "skill://pack/SKILL.md"},
		{pack, "docs/README.md", "skill://pack/docs/README.md"},
	}
	for _, test := range tests {
		got := resources.URI(test.skill, test.file)
		if got != test.want {
			t.Errorf("URI(%s, %q) = %s, want %s", test.skill.Path, test.file, got, test.want)
		}
		// Go's parser takes no encoded ASCII in the authority, though RFC 3986
		// has it.
		if _, err := url.Parse(got); err != nil && test.skill != odd {
			t.Errorf("URI(%s, %q) is unfit for a parser: %v", test.skill.Path, test.file, err)
		}
	}
}

// published is a catalog with and without prefix, and with skills whose paths
// lie in one another.
func published(t testing.TB) *catalog.Snapshot {
	t.Helper()
	plain := filetest.Plant(t, map[string]string{
		"acme/SKILL.md":   filetest.EntryDocument("acme"),
		"größe/SKILL.md":  filetest.EntryDocument("größe"),
		"acme/billing/x":  "x",
		"acme/deep/x/y/z": "z",
	})
	prefixed := filetest.Plant(t, map[string]string{"refunds/SKILL.md": filetest.EntryDocument("refunds")})
	return snapshot(t,
		catalog.Root{Path: plain},
		catalog.Root{Path: prefixed, Prefix: "acme/billing"})
}

func TestResolve(t *testing.T) {
	t.Parallel()
	s := published(t)
	tests := []struct{ uri, skill, file string }{
		{"skill://acme", "acme", "."},
		{"skill://acme/", "acme", "."},
		{"SKILL://acme/SKILL.md", "acme", "SKILL.md"},
		{"skill://acme/billing", "acme", "billing"},
		{"skill://acme/billing/", "acme", "billing"},
		{"skill://acme/billing/other/SKILL.md", "acme", "billing/other/SKILL.md"},
		{"skill://acme/billing/refunds", "refunds", "."},
		{"skill://acme/billing/refunds/SKILL.md", "refunds", "SKILL.md"},
		{"skill://acme/billing/refunds/acme/SKILL.md", "refunds", "acme/SKILL.md"},
		{"skill://acme/x/acme/y", "acme", "x/acme/y"},
		{"skill://%61cme/%53KILL.md", "acme", "SKILL.md"},
		{"skill://acme/a%2db%2Dc%7e", "acme", "a-b-c~"},
		{"skill://acme/%e6%97%a5%E6%9C%AC.md", "acme", "日本.md"},
		{"skill://acme/日本.md", "acme", "日本.md"},
		{"skill://gr%C3%B6%C3%9Fe/SKILL.md", "größe", "SKILL.md"},
		{"skill://gr%c3%b6%c3%9fe/SKILL.md", "größe", "SKILL.md"},
		{"skill://größe/SKILL.md", "größe", "SKILL.md"},
		{"skill://acme/my file[1].md", "acme", "my file[1].md"},
		{"skill://acme/a%3Fb%23c%25d", "acme", "a?b#c%d"},
		{"skill://acme/ab:c@d", "acme", "ab:c@d"},
		{"skill://acme/line%0Abreak", "acme", "line\nbreak"},
		{"skill://acme/latin%E9", "acme", "latin\xe9"},
		{"skill://acme/%252e%252e", "acme", "%2e%2e"},
	}
	for _, test := range tests {
		skill, file, err := resources.Resolve(s, test.uri)
		if err != nil {
			t.Errorf("Resolve(%q): %v", test.uri, err)
			continue
		}
		if skill.Name != test.skill || file != test.file {
			t.Errorf("Resolve(%q) = %s, %q; want %s, %q", test.uri, skill.Name, file, test.skill, test.file)
		}
	}
}

var refusedURIs = []struct {
	uri  string
	want contained.Rule
}{
	{"", contained.Invalid},
	{"acme/SKILL.md", contained.Invalid},
	{"skill:acme/SKILL.md", contained.Invalid},
	{"skill:/acme/SKILL.md", contained.Invalid},
	{"file:///etc/passwd", contained.Invalid},
	{"skills://acme/SKILL.md", contained.Invalid},
	{"skill://", contained.Invalid},
	{"skill:///acme/SKILL.md", contained.Invalid},
	{"skill://acme//SKILL.md", contained.Invalid},
	{"skill://acme/x//", contained.Invalid},
	{"skill://acme/SKILL.md?raw=1", contained.Invalid},
	{"skill://acme/SKILL.md#top", contained.Invalid},
	{"skill://user@acme/SKILL.md", contained.Invalid},
	{"skill://acme:80/SKILL.md", contained.Invalid},
	{"skill://[::1]/SKILL.md", contained.Invalid},
	{"skill://acme/100%", contained.Invalid},
	{"skill://acme/100%2", contained.Invalid},
	{"skill://acme/100%zz", contained.Invalid},
	{"skill://acme/a\\b", contained.Invalid},
	{"skill://acme/a\nb", contained.Invalid},
	{"skill://acme/a\x00b", contained.Invalid},
	{"skill://acme/a%00b", contained.Invalid},
	{"skill://acme/a%2Fb", contained.Invalid},
	{"skill://acme/a%2fb", contained.Invalid},
	{"skill://acme/a%5cb", contained.Invalid},
	{"skill://acme%2FSKILL.md", contained.Invalid},
	{"skill://acme/./SKILL.md", contained.Invalid},
	{"skill://acme/%2e/SKILL.md", contained.Invalid},
	{"skill://acme/..", contained.Traversal},
	{"skill://acme/../acme/SKILL.md", contained.Traversal},
	{"skill://acme/%2e%2e/x", contained.Traversal},
	{"skill://acme/.%2E/x", contained.Traversal},
	{"skill://../acme", contained.Traversal},
	{"skill://acme/c:/x", contained.Absolute},
	{"skill://acme/" + strings.Repeat("x/", 65), contained.Invalid},
	{"skill://acme/" + strings.Repeat("x", 5000), contained.Invalid},
	{"skill://nobody/" + strings.Repeat("x", 1<<20), contained.Invalid},
	{"skill://" + strings.Repeat("x/", 10_000) + "x", contained.NotFound},
	{"skill://nobody/SKILL.md", contained.NotFound},
	{"skill://ACME/SKILL.md", contained.NotFound},
	{"skill://refunds/SKILL.md", contained.NotFound},
	{"skill://billing/refunds/SKILL.md", contained.NotFound},
	{"skill://acm%C3/SKILL.md", contained.NotFound},
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	s := published(t)
	for _, test := range refusedURIs {
		skill, file, err := resources.Resolve(s, test.uri)
		if err == nil {
			t.Errorf("Resolve(%.100q) = %s, %q; want a refusal by %s", test.uri, skill.Name, file, test.want)
			continue
		}
		filetest.WantRule(t, err, test.want)
	}
}

// The URI of an entry document leads back to it, also under another name.
func TestEntryDocumentOfAnotherName(t *testing.T) {
	t.Parallel()
	root := filetest.Plant(t, map[string]string{
		"pack/README.md": filetest.EntryDocument("pack"),
	})
	s := snapshot(t, catalog.Root{Path: root, Pack: true})
	pack, ok := s.Lookup("pack")
	if !ok {
		t.Fatalf("the pack is not published: %v", s.Skills())
	}
	got, file, err := resources.Resolve(s, "skill://pack/SKILL.md")
	if err != nil || got != pack || file != "README.md" {
		t.Fatalf("Resolve = %v, %q, %v; want the pack's README.md", got, file, err)
	}
	opened := filetest.Open(t, pack.Dir, contained.Options{Entry: pack.Entry})
	for _, name := range []string{"SKILL.md", "README.md"} {
		content, err := filetest.Read(opened, name, contained.Range{})
		if err != nil {
			t.Fatal(err)
		}
		if string(content.Data) != filetest.EntryDocument("pack") || content.Path != "README.md" {
			t.Errorf("Read(%s) = %s, %q", name, content.Path, content.Data)
		}
	}
}

// Whatever Resolve takes is a clean path, and the URI of that leads back.
func FuzzResolve(f *testing.F) {
	filetest.Seeded(f, len(refusedURIs))
	s := published(f)
	for _, test := range refusedURIs {
		f.Add(test.uri)
	}
	f.Add("skill://acme/a%3Fb%23c%25d")
	f.Add("skill://acme/billing/refunds/%E6%97%A5")
	f.Fuzz(func(t *testing.T, uri string) {
		skill, file, err := resources.Resolve(s, uri)
		if err != nil {
			filetest.WantRule(t, err, filetest.RuleOf(err))
			return
		}
		roundTrip(t, s, skill, file)
	})
}

// Every path that can be read has a URI that leads back to it.
func FuzzURI(f *testing.F) {
	filetest.Seeded(f, len(filetest.CleanPaths))
	s := published(f)
	for _, test := range filetest.CleanPaths {
		f.Add(test.Give)
	}
	f.Add("latin\xe9")
	f.Fuzz(func(t *testing.T, name string) {
		file, err := contained.Clean(strings.ToValidUTF8(name, "é"))
		if err != nil {
			return
		}
		for _, skill := range s.Skills() {
			if skill.Name == "acme" && strings.HasPrefix(file+"/", "billing/refunds/") {
				continue // another skill has that URI
			}
			roundTrip(t, s, skill, file)
		}
	})
}

func roundTrip(t *testing.T, s *catalog.Snapshot, skill *catalog.Skill, file string) {
	t.Helper()
	uri := resources.URI(skill, file)
	for i := range len(uri) {
		if uri[i] <= ' ' || uri[i] >= 0x7F || strings.IndexByte("\\?#\"<>^`{|}[]", uri[i]) >= 0 {
			t.Errorf("URI(%s, %q) = %q is no RFC 3986 URI", skill.Name, file, uri)
		}
	}
	gotSkill, gotFile, err := resources.Resolve(s, uri)
	if err != nil || gotSkill != skill || gotFile != file {
		t.Errorf("%s, %q has the URI %q, which leads to %v, %q, %v", skill.Name, file, uri, gotSkill, gotFile, err)
	}
}
