package catalog_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/catalog"
)

func TestDefaultRoots(t *testing.T) {
	t.Parallel()
	optional := func(paths ...string) (roots []catalog.Root) {
		for _, path := range paths {
			roots = append(roots, catalog.Root{Path: filepath.FromSlash(path), Optional: true})
		}
		return roots
	}
	for _, test := range []struct {
		name, project, home string
		want                []catalog.Root
	}{
		{"both", "/srv/p", "/home/u", optional(
			"/srv/p/.skills", "/srv/p/.agents/skills", "/srv/p/.claude/skills",
			"/home/u/.agents/skills", "/home/u/.claude/skills", "/home/u/.skills-mcp/skills")},
		{"the project is the home", "/home/u", "/home/u", optional(
			"/home/u/.skills", "/home/u/.agents/skills", "/home/u/.claude/skills", "/home/u/.skills-mcp/skills")},
		{"no home", "/p", "", optional("/p/.skills", "/p/.agents/skills", "/p/.claude/skills")},
	} {
		if diff := cmp.Diff(test.want, catalog.DefaultRoots(test.project, test.home)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestParseRoot(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]catalog.Root{
		"/abs/skills":            {Path: "/abs/skills"},
		"/abs//x/../skills/":     {Path: "/abs/skills"},
		"skills":                 {Path: "/srv/skills"},
		"./skills":               {Path: "/srv/skills"},
		"../skills":              {Path: "/skills"},
		".":                      {Path: "/srv"},
		"~":                      {Path: "/home/u"},
		"~/x":                    {Path: "/home/u/x"},
		"./~x":                   {Path: "/srv/~x"},
		"acme=skills":            {Path: "/srv/skills", Prefix: "acme"},
		"acme/team-1=~/skills":   {Path: "/home/u/skills", Prefix: "acme/team-1"},
		"acme=/a=b":              {Path: "/a=b", Prefix: "acme"},
		"./acme=x":               {Path: "/srv/acme=x"},
		"/srv/a=b":               {Path: "/srv/a=b"},
		"Acme=x":                 {Path: "/srv/Acme=x"},
		"a//b=x":                 {Path: "/srv/a/b=x"},
		"/=x":                    {Path: "/=x"},
		"pack:packs":             {Path: "/srv/packs", Pack: true},
		"pack:acme=~/packs":      {Path: "/home/u/packs", Prefix: "acme", Pack: true},
		"pack:/srv/pack:x":       {Path: "/srv/pack:x", Pack: true},
		"acme=pack:x":            {Path: "/srv/pack:x", Prefix: "acme"},
		"dist/pdf.skill":         {Path: "/srv/dist/pdf.skill"},
		"with space/日本":          {Path: "/srv/with space/日本"},
		"prefix-like-but-no-equ": {Path: "/srv/prefix-like-but-no-equ"},
	} {
		got, err := catalog.ParseRoot(arg, "/srv", "/home/u")
		if err != nil {
			t.Errorf("%q: %v", arg, err)
			continue
		}
		want.Path = filepath.FromSlash(want.Path)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", arg, diff)
		}
	}
}

func TestParseRootRefuses(t *testing.T) {
	t.Parallel()
	for arg, home := range map[string]string{
		"": "/h", "pack:": "/h", "acme=": "/h", "~": "", "~/x": "", "~other/x": "/h", "a\x00b": "/h", "acme=~": "",
	} {
		var wrong *catalog.RootError
		if root, err := catalog.ParseRoot(arg, "/srv", home); !errors.As(err, &wrong) || wrong.Reason == "" {
			t.Errorf("%q with home %q: %+v, %v; want a RootError", arg, home, root, err)
		}
	}
}

func TestOpenRefusesRootsWithoutSense(t *testing.T) {
	t.Parallel()
	for _, root := range []catalog.Root{
		{},
		{Path: "relative"},
		{Path: "/a/../b"},
		{Path: "/a/"},
		{Path: "/a\x00"},
		{Path: "/a", Prefix: "/edge"},
		{Path: "/a", Prefix: "edge/"},
		{Path: "/a", Prefix: "Upper"},
		{Path: "/a", Prefix: "a/../b"},
		{Path: "/a", Pack: true, Entry: "../README.md"},
		{Path: "/a", Pack: true, Entry: ".."},
	} {
		var wrong *catalog.RootError
		if _, err := catalog.Open(t.Context(), catalog.Options{Roots: []catalog.Root{root}}); !errors.As(err, &wrong) {
			t.Errorf("%+v: error %v, want a RootError", root, err)
		}
	}
	if _, err := catalog.Open(t.Context(), catalog.Options{Poll: -1}); err == nil {
		t.Error("a negative poll interval was taken")
	}
}
