package catalog_test

import (
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
)

// TestTabs holds white space to YAML 1.2.2, sections 6.1 and 6.2: it may be
// tabs wherever it does not indent a block collection.
func TestTabs(t *testing.T) {
	t.Parallel()
	const broken = ""
	for yaml, want := range map[string]string{
		"k: b\n\t\nl: c\n":                   `{"k":"b","l":"c"}`,
		"k:\n\t\n  a: b\n":                   `{"k":{"a":"b"}}`,
		"\t\nk: b\n":                         `{"k":"b"}`,
		"k: a\n\n\t\n  b\n":                  `{"k":"a\n\nb"}`,
		"\t# a\nk: b\n":                      `{"k":"b"}`,
		"k: b\n\t# a\nl: c\n":                `{"k":"b","l":"c"}`,
		"k: b\n \t # a\t\nl: c\n":            `{"k":"b","l":"c"}`,
		"k:\n-\ta\n-\t\tb\n":                 `{"k":["a","b"]}`,
		"k:\n- -\t'a\tb'\n":                  `{"k":[["a\tb"]]}`,
		"?\ta\n:\tb\n":                       broken, // the parser wants spaces there
		"k: |\n  \ta\n":                      `{"k":"\ta\n"}`,
		"k: |\n\n  \ta\n  b\n":               `{"k":"\n\ta\nb\n"}`,
		"l:\n- |- # c\n  \ta\n":              `{"l":["\ta"]}`,
		"l:\n- a: >+\n    \tb\n  c: d\n":     `{"l":[{"a":"\tb\n","c":"d"}]}`,
		"k: \"a\n\t\n\tb\"\nl:\n-\tc\n":      `{"k":"a\nb","l":["c"]}`,
		"d: a: b\nk:\n-\ta\n":                `{"d":"a: b","k":["a"]}`,
		"k:\n" + strings.Repeat("-\ta\n", 9): `{"k":["a","a","a","a","a","a","a","a","a"]}`,
		"k:\n-\t- a\n":                       broken,
		"k:\n-\ta: b\n":                      broken,
		"k:\n\ta: b\n":                       broken,
		"k: a\n\tb\n":                        broken,
		"k: |\n\ta\n":                        broken,
		"k: |\n  a\n\t\n  b\n":               broken,
	} {
		doc, problems := catalog.ParseDocument("f", []byte("---\n"+yaml+"---\n"))
		if string(doc.Frontmatter) != want {
			t.Errorf("%q: %s, want %s; problems %v", yaml, doc.Frontmatter, want, problems)
		}
	}
}

// TestAnchorNames holds the names of anchors to YAML 1.2.2, section 6.9.2, of
// which those with other letters than ASCII's are refused.
func TestAnchorNames(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"k: &é a\nl: *é\n":               "",
		"k: &a.b/c:d!# a\nl: *a.b/c:d!#": `{"k":"a","l":"a"}`,
		"k: [&日本 a, *日本, {b: *日本 }]\n":   "",
		"k: &a:b c\n":                    `{"k":"c"}`,
		"k: AT &T.x *é Q\n":              `{"k":"AT &T.x *é Q"}`,
		"k: \"&é\\n *é\"\nl: '&é'\n":     `{"k":"&é\n *é","l":"&é"}`,
		"k: |\n  &é *a.b\nT &é: c\n":     `{"k":"&é *a.b\n","T &é":"c"}`,
	} {
		doc, problems := catalog.ParseDocument("f", []byte("---\n"+yaml+"\n---\n"))
		if string(doc.Frontmatter) != want {
			t.Errorf("%q: %s, want %s; problems %v", yaml, doc.Frontmatter, want, problems)
		}
	}
}

// TestDirectives holds them to YAML 1.2.2, section 6.8, where the parser knows
// them: version 1.1 and tags. Only a marker with something behind it can follow
// them in a frontmatter.
func TestDirectives(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"%YAML 1.2\n--- # a\nk: no\n":                          "",
		"%YAML 1.1 # a\n--- # a\nk: no\n":                      `{"k":"no"}`,
		"%YAML 1.3\n%FOO bar\n# a\n\n--- # a\nk: a\n":          "",
		"%TAG !y! tag:yaml.org,2002:\n--- # a\nk: !y!str 12\n": `{"k":"12"}`,
		"%YAML 2.0\n--- # a\nk: a\n":                           "",
		"%YAML 1.2\n%YAML 1.2\n--- # a\nk: a\n":                "",
		"%YAML 1.2\nk: a\n":                                    "",
	} {
		doc, problems := catalog.ParseDocument("f", []byte("---\n"+yaml+"---\n"))
		if string(doc.Frontmatter) != want {
			t.Errorf("%q: %s, want %s; problems %v", yaml, doc.Frontmatter, want, problems)
		}
	}
}
