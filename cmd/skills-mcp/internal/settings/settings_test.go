package settings

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/config"
	"github.com/skills-mcp/skills-mcp/internal/secrets"
	"github.com/skills-mcp/skills-mcp/policy/paths"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server"
)

// TestDefaults: the configuration's defaults are those of the rooms.
func TestDefaults(t *testing.T) {
	t.Parallel()
	usual := config.Default()
	s := &Settings{Effective: &config.Effective{Config: usual}}
	want := server.Limits{Longest: 10 * time.Minute, Instructions: 200_000, Limits: sandbox.Limits{
		Timeout: sandbox.DefaultTimeout, OutputBytes: sandbox.DefaultOutputBytes, SpillBytes: sandbox.DefaultSpillBytes,
		MemoryBytes: sandbox.DefaultMemoryBytes, MilliCPUs: sandbox.DefaultMilliCPUs, Processes: sandbox.DefaultProcesses, FileBytes: sandbox.DefaultFileBytes,
		OpenFiles: sandbox.DefaultOpenFiles, WorkspaceBytes: sandbox.DefaultWorkspaceBytes, WorkspaceFiles: sandbox.DefaultWorkspaceFiles,
	}}
	if diff := cmp.Diff(want, s.RunLimits("any")); diff != "" {
		t.Errorf("limits (-rooms +config):\n%s", diff)
	}
	if usual.Workspaces.Max != workspaces.DefaultMax || usual.Workspaces.Idle != workspaces.DefaultIdle || usual.Sandbox.Docker.Image != docker.DefaultImage {
		t.Errorf("%+v %+v", usual.Workspaces, usual.Sandbox)
	}
	var roots []catalog.Root
	for _, root := range usual.Roots {
		parsed, err := catalog.ParseRoot(root.Path, "/project", "/home/user")
		if err != nil {
			t.Fatal(err)
		}
		parsed.Optional = root.Optional
		roots = append(roots, parsed)
	}
	if diff := cmp.Diff(catalog.DefaultRoots("/project", "/home/user"), roots); diff != "" {
		t.Errorf("roots (-rooms +config):\n%s", diff)
	}
}

// TestFlagsAreKeys: every flag is a key of the configuration with the same
// default.
func TestFlagsAreKeys(t *testing.T) {
	t.Parallel()
	s := &Settings{}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	s.Register(flags, []string{"auto"}, "")
	documented := documentedKeys(t)
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "config" && !strings.Contains(documented, "`--"+flag.Name+"`, ") {
			t.Errorf("--%s is no key", flag.Name)
		}
		// A flag that has its default changes nothing.
		flag.Changed = flag.Name != "config"
	})
	for _, each := range s.keys {
		if flags.Lookup(each.flag) == nil {
			t.Errorf("there is no flag --%s", each.flag)
		}
	}
	effective, err := config.Load(config.Sources{Flags: s.given(nil)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config.Default(), effective.Config, cmpopts.EquateEmpty(), cmpopts.EquateComparable(secrets.Source{})); diff != "" {
		t.Errorf("(-default +flags):\n%s", diff)
	}
}

// documentedKeys returns the page that has the table of keys, which a test of
// internal/config holds.
func documentedKeys(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// TestPatterns: what the configuration takes for a pattern of files, the rules
// for files do too, and no other.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		"*.key", "out/**", "/out", "./out", "out/", "a/b/", "{a,b}", "[a-z]*", "a b", ".env", "..env", "**", "**/x", "ü",
		"", " ", "/", "./", ".", "..", "../x", "a/../b", "a//b", "a//", "//a", ".//a", "!x", "~/x", "[a", "{a", `a\`, "/.", "./.", "a/.", "a/./b",
	} {
		_, err := config.Load(config.Sources{Flags: []config.Flag{{Name: "--hidden", Key: "project.hidden", Values: []string{pattern}}}})
		_, rules := paths.New(paths.Options{Hidden: []string{pattern}})
		if strings.TrimSpace(pattern) != "" && (err == nil) != (rules == nil) {
			t.Errorf("%q: the configuration says %v, the rules say %v", pattern, err, rules)
		}
	}
}
