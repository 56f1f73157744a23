package plugins_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/plugins"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
)

// claude is a directory such as ~/.claude.
type claude struct {
	t       *testing.T
	dir     string
	entries map[string]any
	enabled map[string]any
}

func newClaude(t *testing.T) *claude {
	t.Helper()
	return &claude{t, t.TempDir(), map[string]any{}, map[string]any{}}
}

// plugins is where it has its plugins.
func (c *claude) plugins() string { return filepath.Join(c.dir, "plugins") }

// install installs a plugin for the user, switched on.
func (c *claude) install(id string, files map[string]string) (path string) {
	c.t.Helper()
	name, marketplace, _ := strings.Cut(id, "@")
	path = filepath.Join(c.plugins(), "cache", marketplace, name, "1.0.0")
	if files == nil {
		files = map[string]string{"skills/": ""}
	}
	testfiles.Fill(c.t, path, files)
	c.entries[id] = []map[string]any{{"scope": "user", "installPath": path, "version": "1.0.0"}}
	c.enabled[id] = true
	return path
}

func (c *claude) write() {
	c.t.Helper()
	for name, value := range map[string]any{
		"plugins/installed_plugins.json": map[string]any{"version": 2, "plugins": c.entries},
		"settings.json":                  map[string]any{"enabledPlugins": c.enabled, "model": "any"},
	} {
		text, err := json.Marshal(value)
		if err != nil {
			c.t.Fatal(err)
		}
		testfiles.Write(c.t, filepath.Join(c.dir, filepath.FromSlash(name)), string(text))
	}
}

// find returns the roots, as PREFIX=PATH below the directory of plugins, and the
// reasons for the others.
func (c *claude) find(project string) (roots []string, reasons map[string]string) {
	c.t.Helper()
	c.write()
	found, leftOut, err := plugins.Roots(c.plugins(), project)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, root := range found {
		below, err := filepath.Rel(filepath.Join(c.plugins(), "cache"), root.Path)
		if err != nil || !root.Optional || root.Within == "" {
			c.t.Error(root, err)
		}
		roots = append(roots, root.Prefix+"="+filepath.ToSlash(below))
	}
	reasons = map[string]string{}
	for _, each := range leftOut {
		reasons[each.ID] = each.Reason
		if each.Off != strings.Contains(each.Reason, "switched on") {
			c.t.Errorf("%+v", each)
		}
	}
	return roots, reasons
}

func TestRoots(t *testing.T) {
	t.Parallel()
	c := newClaude(t)
	c.install("plain@market", map[string]string{"skills/one/SKILL.md": ""})
	c.install("named@market", map[string]string{".claude-plugin/plugin.json": `{"name": "other", "skills": "./extra/"}`})
	c.install("lists@a", map[string]string{".claude-plugin/plugin.json": `{"skills": ["./skills/one", "more", "more/two", "../../out", "/etc", ".", "skills-too"]}`})
	c.install("off@market", nil)
	c.enabled["off@market"] = false
	c.install("unsaid@market", nil)
	delete(c.enabled, "unsaid@market")
	c.install("odd@market", nil)
	c.enabled["odd@market"] = "true"
	old := c.install("old@market", nil)
	c.entries["old@market"] = map[string]any{"installPath": old} // as an older registry has it
	const off = "it is not switched on in the user's settings"
	roots, reasons := c.find("/project")
	want := []string{
		"lists=a/lists/1.0.0/skills", "lists=a/lists/1.0.0/more", "lists=a/lists/1.0.0/skills-too",
		"other=market/named/1.0.0/skills", "other=market/named/1.0.0/extra", "old=market/old/1.0.0/skills", "plain=market/plain/1.0.0/skills",
	}
	if diff := cmp.Diff(want, roots); diff != "" {
		t.Errorf("roots (-want +got): %s", diff)
	}
	if diff := cmp.Diff(map[string]string{"off@market": off, "unsaid@market": off, "odd@market": off}, reasons); diff != "" {
		t.Errorf("left out (-want +got): %s", diff)
	}
}

// What was installed for one project is there in that project alone.
func TestRootsOfProjects(t *testing.T) {
	t.Parallel()
	c := newClaude(t)
	mine, both := c.install("mine@market", nil), c.install("both@market", nil)
	c.entries["mine@market"] = []map[string]any{{"scope": "project", "projectPath": "/project", "installPath": mine}}
	c.entries["both@market"] = []map[string]any{
		{"scope": "local", "projectPath": "/project", "installPath": both + "-local"}, {"scope": "user", "installPath": both},
	}
	testfiles.Fill(t, both+"-local", map[string]string{"skills/": ""})
	for project, want := range map[string][]string{
		"/project": {"both=market/both/1.0.0-local/skills", "mine=market/mine/1.0.0/skills"},
		"/another": {"both=market/both/1.0.0/skills"},
	} {
		if roots, _ := c.find(project); !cmp.Equal(roots, want) {
			t.Errorf("in %s there are %q, want %q", project, roots, want)
		}
	}
}

// Neither a registry nor a plugin leads elsewhere.
func TestRootsThatLeadOut(t *testing.T) {
	t.Parallel()
	c := newClaude(t)
	c.install("broken@market", map[string]string{".claude-plugin/plugin.json": "{"})
	c.install("Bad Name@market", nil)
	c.install("gone@market", nil)
	for id, path := range map[string]string{"relative@m": "cache", "outside@m": "/etc", "above@m": c.plugins() + "/../..", "all@m": c.plugins()} {
		c.entries[id], c.enabled[id] = []map[string]any{{"scope": "user", "installPath": path}}, true
	}
	if err := os.RemoveAll(filepath.Join(c.plugins(), "cache", "market", "gone")); err != nil {
		t.Fatal(err)
	}
	const outside = "it is installed outside of the directory of plugins"
	want := map[string]string{
		"relative@m": outside, "outside@m": outside, "above@m": outside, "all@m": outside,
		"broken@market": "its manifest cannot be read", "Bad Name@market": "its name can be no part of a URI", "gone@market": "its directory cannot be opened",
	}
	if runtime.GOOS != "windows" {
		for name, link := range map[string]string{"linked@market": "skills", "lying@market": ".claude-plugin/plugin.json"} {
			path := c.install(name, map[string]string{"README.md": "", ".claude-plugin/": ""})
			if err := os.Symlink(filepath.Join(c.dir, "settings.json"), filepath.Join(path, link)); err != nil {
				t.Fatal(err)
			}
		}
		away := filepath.Join(c.plugins(), "cache", "market", "away")
		testfiles.Fill(t, filepath.Join(c.dir, "private"), map[string]string{"skills/": ""})
		if err := os.Symlink("../../../private", away); err != nil {
			t.Fatal(err)
		}
		c.entries["away@market"], c.enabled["away@market"], want["away@market"] = []map[string]any{{"scope": "user", "installPath": away}}, true, outside
		want["linked@market"], want["lying@market"] = "a directory of its skills leads out of it", "its manifest cannot be read"
	}
	roots, reasons := c.find("/project")
	if diff := cmp.Diff(want, reasons); diff != "" {
		t.Errorf("left out (-want +got): %s", diff)
	}
	if len(roots) > 0 {
		t.Errorf("roots are %q", roots)
	}
}

func TestRootsOfNoRegistry(t *testing.T) {
	t.Parallel()
	c := newClaude(t)
	if _, _, err := plugins.Roots(c.plugins(), "/project"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a registry: %v", err)
	}
	c.install("one@market", nil)
	c.write()
	if err := os.Remove(filepath.Join(c.dir, "settings.json")); err != nil {
		t.Fatal(err)
	}
	if roots, leftOut, err := plugins.Roots(c.plugins(), "/project"); err != nil || len(roots) > 0 || len(leftOut) != 1 {
		t.Errorf("without settings: %v, %v, %v", roots, leftOut, err)
	}
	for _, text := range []string{"", "[]", `{"plugins": []}`, `{"plugins": {"a@b": 1}}`, strings.Repeat(" ", 4<<20) + "{}"} {
		testfiles.Write(t, filepath.Join(c.plugins(), "installed_plugins.json"), text)
		if _, _, err := plugins.Roots(c.plugins(), "/project"); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
