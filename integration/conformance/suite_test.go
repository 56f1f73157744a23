package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// TestConformance runs every scenario and the inspector, and compares the
// outcome with docs/protocol.md.
func TestConformance(t *testing.T) {
	testenv.Slow(t, "starts the suite for every scenario")
	node := node(t)
	known := readExpected(t)
	outcome := &outcome{}
	t.Run("suite", func(t *testing.T) {
		processes := &processes{t: t, node: node}
		for _, s := range scenarios {
			for _, version := range s.versions {
				t.Run(fmt.Sprintf("%s at %s", s.title(), version), func(t *testing.T) {
					t.Parallel()
					s.level(t, version)
					outcome.addScenario(s, version, judge(t, known, s, version, s.run(t, processes, version)))
				})
			}
		}
	})
	t.Run("inspector", func(t *testing.T) {
		for _, i := range inspections() {
			t.Run(i.title(), func(t *testing.T) {
				t.Parallel()
				if i.variant != "" && i.era == "legacy" {
					testenv.Variant(t, "other skills in the older era too")
				}
				if i.method == "tools/list" && i.transport == "stdio" {
					testenv.Variant(t, "the same list over stdio, over which skills/list goes too")
				}
				i.run(t, node)
				outcome.addInspection(i)
			})
		}
	})
	if !t.Failed() {
		outcome.compare(t, known)
	}
}

// level skips a scenario at a version that is not the newest of an era of the
// protocol, and with skills that are no samples in the older era, unless every
// variant is wanted.
func (s scenario) level(t *testing.T, version string) {
	t.Helper()
	newest := version == s.versions[len(s.versions)-1]
	if !newest && (version != v2025November || s.variant != "") {
		testenv.Variant(t, "a scenario at one more version of an era")
	}
}

// check is one entry of the suite's checks.json.
type check struct {
	ID      string          `json:"id"`
	Status  string          `json:"status"` // SUCCESS, FAILURE, WARNING, SKIPPED or INFO
	Message string          `json:"errorMessage"`
	Details json.RawMessage `json:"details"`
}

// run runs the scenario against a server of its own.
func (s scenario) run(t *testing.T, processes *processes, version string) []check {
	t.Helper()
	root := samples
	if s.root != nil {
		root = s.root(t)
	}
	server, url := program.Serve(t, program.Home(t), root)
	results := t.TempDir()
	args := []string{"server", "--url", url + "/mcp", "--scenario", s.name,
		"--spec-version", version, "--output-dir", results, "--timeout", fmt.Sprint(program.Patience.Milliseconds())}
	if s.extension {
		args = append(args, "--force")
	}
	suite := processes.start(args)
	if s.edited {
		keepEditing(t, root, server, suite)
	}
	code := suite.wait(t)
	checks := readChecks(t, results, suite)
	failed := false
	for _, c := range checks {
		failed = failed || c.Status == "FAILURE"
	}
	if failed != (code != 0) {
		t.Errorf("the suite ended with exit code %d\n%s", code, suite.Output)
	}
	return checks
}

// readChecks reads what the suite found.
func readChecks(t *testing.T, results string, suite *suiteRun) []check {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(results, "*", "checks.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the suite left %d results: %v\n%s", len(files), err, suite.Output)
	}
	encoded, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var checks []check
	if err := json.Unmarshal(encoded, &checks); err != nil {
		t.Fatal(err)
	}
	return checks
}

// keepEditing changes a skill's description again and again until the suite
// has ended, each time once the server has seen the change before. So a
// list_changed notification is never far, whenever the suite listens for one.
func keepEditing(t *testing.T, root string, server *program.Process, suite *suiteRun) {
	t.Helper()
	const seen = `catalog changed`
	ended := func() bool {
		select {
		case <-suite.ended:
			return true
		default:
			return false
		}
	}
	deadline := time.Now().Add(program.Patience)
	for edit := 0; !ended() && time.Now().Before(deadline); edit++ {
		before := strings.Count(server.Stderr.String(), seen)
		writeSkill(t, filepath.Join(root, "edited"), fmt.Sprintf("Was edited %d times.", edit))
		program.Eventually(t, "the server sees an edit", func() bool {
			return ended() || strings.Count(server.Stderr.String(), seen) > before
		})
	}
}

// tally counts a scenario's checks.
type tally struct {
	passed, failed int
	failures       []expectation // expected ones
}

// judge fails the test for every check that failed or warned and is not
// expected to, and for every one that is expected to and did not.
func judge(t *testing.T, known []expectation, s scenario, version string, checks []check) tally {
	t.Helper()
	var counts tally
	bad := map[string]bool{}
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS":
			counts.passed++
		case "SKIPPED", "INFO": // not applicable, or not a check
		case "FAILURE", "WARNING":
			counts.failed++
			bad[c.ID] = true
			if find(known, s, version, c.ID) == nil {
				t.Errorf("%s %s: %s\n%s", c.Status, c.ID, c.Message, c.Details)
			}
		default:
			t.Errorf("%s has the status %q", c.ID, c.Status)
		}
	}
	if counts.passed == 0 {
		t.Errorf("no check passed: %v", checks)
	}
	for _, e := range known {
		if e.scenario != s.name || e.version != version {
			continue
		}
		if !bad[e.check] {
			t.Errorf("%s:%d: %s does not fail any more: remove it", expectedFile, e.line, e.check)
		}
		counts.failures = append(counts.failures, e)
	}
	return counts
}
