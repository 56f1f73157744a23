package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
)

// The protocol versions that the suite knows.
const (
	v2025March    = "2025-03-26"
	v2025June     = "2025-06-18"
	v2025November = "2025-11-25"
	v2026July     = "2026-07-28"
)

var versions = []string{v2025March, v2025June, v2025November, v2026July}

// scenario is one of the suite's, for servers.
type scenario struct {
	name     string
	versions []string
	// variant tells two entries of one name apart.
	variant string
	// extension scenarios belong to no protocol version and have to be
	// forced.
	extension bool
	// root makes the directory to serve; nil means the samples.
	root func(t *testing.T) string
	// edited roots change all the time while the scenario runs.
	edited bool
}

// scenarios are all that need no fixture of the suite's own, at all versions
// that they are for.
var scenarios = []scenario{
	{name: "server-initialize", versions: []string{v2025June, v2025November}},
	{name: "server-session-lifecycle", versions: []string{v2025March, v2025June, v2025November}},
	{name: "server-stateless", versions: []string{v2026July}, root: copyOfSamples, edited: true},
	{name: "ping", versions: []string{v2025June, v2025November}},
	{name: "tools-list", versions: []string{v2025June, v2025November, v2026July}},
	{name: "resources-list", versions: []string{v2025June, v2025November, v2026July}},
	{name: "resources-subscribe", versions: []string{v2025June, v2025November}},
	{name: "resources-unsubscribe", versions: []string{v2025June, v2025November}},
	{name: "prompts-list", versions: []string{v2025June, v2025November, v2026July}},
	{name: "completion-complete", versions: []string{v2025June, v2025November, v2026July}},
	{name: "dns-rebinding-protection", versions: []string{v2025November, v2026July}},
	{name: "server-sse-multiple-streams", versions: []string{v2025November, v2026July}},
	{name: "caching", versions: []string{v2026July}},
	{name: "http-header-validation", versions: []string{v2026July}},
	{name: "sep-2164-resource-not-found", versions: []string{v2026July}},
	{name: "input-required-result-unsupported-methods", versions: []string{v2026July}},

	{name: "sep-2640-skills-enumeration", versions: []string{v2025November, v2026July}, extension: true},
	{name: "sep-2640-skills-manifest", versions: []string{v2025November, v2026July}, extension: true},
	{name: "sep-2640-skills-directory", versions: []string{v2025November, v2026July}, extension: true},
	// The samples fit on one page; here pages have to be turned.
	{name: "sep-2640-skills-enumeration", versions: []string{v2025November, v2026July}, extension: true, variant: "several pages", root: manySkills},
	{name: "sep-2640-skills-directory", versions: []string{v2025November, v2026July}, extension: true, variant: "several pages", root: manySkills},
	// Most of these break a rule for entries and must not be listed.
	{name: "sep-2640-skills-enumeration", versions: []string{v2025November, v2026July}, extension: true, variant: "faulty skills", root: faultySkills},
}

// title names the scenario for people.
func (s scenario) title() string {
	if s.variant == "" {
		return s.name
	}
	return s.name + ", " + s.variant
}

// needFixture are the scenarios that call tools, resources or prompts which
// only the suite's own fixture server has, or test the tasks extension, which
// this server does not declare. A pattern ends in an asterisk.
var needFixture = []string{
	"elicitation-*",
	"http-custom-header-server-validation",
	"input-required-result-*",
	"json-schema-2020-12",
	"logging-set-level", // a capability that this server does not declare
	"prompts-get-*",
	"resources-read-*",
	"resources-templates-read",
	"server-sse-polling",
	"tasks-*",
	"tools-call-*",
}

// listedScenario is a line of the suite's list.
var listedScenario = regexp.MustCompile(`(?m)^ +- (\S+) \[([^\]]+)\]$`)

// TestEveryScenarioIsConsidered compares the table with what the suite offers
// to servers, so that a newer suite's scenarios and versions are not missed.
func TestEveryScenarioIsConsidered(t *testing.T) {
	t.Parallel()
	list := startTool(t, node(t), suiteScript, "list", "--server")
	if code := list.exitCode(t); code != 0 {
		t.Fatalf("exit code %d\n%s", code, list.Stderr)
	}
	listed := map[string]string{}
	for _, match := range listedScenario.FindAllStringSubmatch(list.stdout.String(), -1) {
		listed[match[1]] = match[2]
	}
	if len(listed) < len(needFixture) {
		t.Fatalf("the list of scenarios cannot be read:\n%s", &list.stdout)
	}
	ours := map[string]bool{}
	for _, s := range scenarios {
		ours[s.name] = true
		want := strings.Join(s.versions, ",")
		if s.extension {
			want = "extension"
		}
		if listed[s.name] != want {
			t.Errorf("%s is for %q, the suite says %q", s.name, want, listed[s.name])
		}
	}
	for name := range listed {
		fixture := slices.ContainsFunc(needFixture, func(pattern string) bool {
			matched, _ := filepath.Match(pattern, name)
			return matched
		})
		if !ours[name] && !fixture {
			t.Errorf("scenario %s is new: run it, or say that it needs a fixture", name)
		}
	}
}

// faultySkills returns a root with every fault that skills are known to have.
func faultySkills(*testing.T) string { return faulty }

// copyOfSamples returns a root that may be written to.
func copyOfSamples(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(samples)); err != nil {
		t.Fatal(err)
	}
	return root
}

// manySkills returns a root, the same one to all, whose skills/list has several
// pages and whose first skill's directory has several too, within the
// extension's 512 files a skill.
func manySkills(t *testing.T) string {
	t.Helper()
	root := filepath.Join(scratch, "many")
	makeManySkills.Do(func() {
		wide := filepath.Join(root, "a-wide-one")
		writeSkill(t, wide, "Has more files than a page of resources/directory/read.")
		testfiles.Write(t, filepath.Join(wide, "0-first", "note.md"), "Below.\n")
		for i := range 509 {
			testfiles.Write(t, filepath.Join(wide, fmt.Sprintf("note-%03d.md", i)), fmt.Sprintf("Note %d.\n", i))
		}
		for i := range 150 {
			dir := filepath.Join(root, fmt.Sprintf("skill-%03d", i))
			writeSkill(t, dir, fmt.Sprintf("Is number %d of many.", i))
			testfiles.Write(t, filepath.Join(dir, "references", "more.md"), "More.\n")
		}
	})
	return root
}

var makeManySkills sync.Once

// writeSkill writes the SKILL.md of the skill in dir.
func writeSkill(t *testing.T, dir, description string) {
	t.Helper()
	testfiles.Write(t, filepath.Join(dir, "SKILL.md"),
		fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n\nDo nothing.\n", filepath.Base(dir), description))
}
